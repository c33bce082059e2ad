"""Runs in, text out. Nothing is computed here: every number comes from `plimsoll.stats`."""
