"""The todos lab: the service with PostgreSQL, and the locustfile that loads it."""
