"""Reverse proxies in front of a file server: what each costs, at rates from calm to too much."""
