"""Ids and values in, text out: every sentence and every form of a number, a duration or a list."""
