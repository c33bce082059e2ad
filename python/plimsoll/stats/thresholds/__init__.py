"""Thresholds and objectives: their notation, and their results for a run."""
