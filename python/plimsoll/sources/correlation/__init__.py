"""Which values of requests come from earlier replies."""
