"""The forum: threads, and comments below them."""
