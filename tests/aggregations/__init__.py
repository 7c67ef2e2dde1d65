"""Tests of the aggregations against an independent oracle, scikit-learn, published tables and invariances."""
