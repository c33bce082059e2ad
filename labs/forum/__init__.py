"""A forum's API before and after four indexes, over a ladder of users."""
