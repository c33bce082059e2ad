"""The capacity of a target: the bracket of a search, the knee of a ladder, the scalability law."""
