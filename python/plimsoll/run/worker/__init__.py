"""One worker process: its users, their arrivals, and a snapshot of what they measured each second."""
