"""Recording of requests while they are made: a proxy, and a browser that uses it."""
