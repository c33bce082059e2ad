"""The todos lab: the service, the PostgreSQL under it, and the locustfile that loads it."""
