"""Access logs of servers and proxies: what a service is asked for, as a mix of requests."""
