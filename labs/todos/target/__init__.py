"""The todos service: FastAPI and SQLAlchemy in front of PostgreSQL, in the variants that the lab compares."""
