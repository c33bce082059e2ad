"""Reads the prose and the tables of published load test reports, as far as they can be read with certainty."""
