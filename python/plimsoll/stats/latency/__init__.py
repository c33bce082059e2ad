"""Durations: percentiles, their uncertainty, warm-up, and effects that a closed model hides."""
