"""Locust's web API: the page of a program, and the routes that scripts request."""
