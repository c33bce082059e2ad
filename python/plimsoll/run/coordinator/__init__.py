"""The process that a person starts: it launches workers, ramps users, adds up seconds and writes the store."""
