"""A locustfile in a run: found, imported, described, and run in a worker."""
