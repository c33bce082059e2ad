"""Probability distributions and tests based on them. Tests compare each function with scipy."""
