"""Reads the tables of published load test reports, each with a map of its own."""
