"""What the page may do: start, change, stop and reset a run."""
