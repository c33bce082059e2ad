"""What the page can do: start, change, stop and reset a run."""
