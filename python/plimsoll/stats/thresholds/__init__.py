"""Thresholds and objectives: how they are written, and whether a run keeps them."""
