"""Findings from observations of the target: saturation, queues, slower work, leaks."""
