"""Capture: cross-validations of unchanged code, recorded while scikit-learn runs them."""
