"""What becomes of a run that loses a worker, or its coordinator."""
