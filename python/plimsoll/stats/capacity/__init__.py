"""How much load a target carries: the bracket of a search, the knee of a ladder, the scalability law."""
