"""Tests of how claims are attributed to aggregations, and of the rules that rest on that."""
