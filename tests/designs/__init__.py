"""Tests of what a design promises: exact expectations, simulations, risks, the command and its figures."""
