"""Locust's web addresses: the page of a program, and the routes that scripts ask for."""
