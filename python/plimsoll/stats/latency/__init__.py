"""Durations: percentiles, how sure they are, warm-up, and what a closed model does not see."""
