"""A locustfile in a run: finding, importing, describing it, and running it in a worker."""
