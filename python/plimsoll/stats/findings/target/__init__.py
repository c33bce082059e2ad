"""What was observed of the target: what is full or waits, what takes longer, what leaks."""
