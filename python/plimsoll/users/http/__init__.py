"""HTTP for Python users: the session, its requests, and its responses."""
