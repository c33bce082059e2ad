"""The discussion service: threads, and comments below them, in PostgreSQL."""
