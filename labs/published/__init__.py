"""Reads the tables of published load test reports. Each report has its own map."""
