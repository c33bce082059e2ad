"""Distributions of probability and the tests that use them. Tests compare each function with scipy."""
