"""Comparisons of variants: from pairs of runs to verdicts, and changes over many runs."""
