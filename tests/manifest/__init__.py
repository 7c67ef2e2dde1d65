"""Tests of the manifest."""
