"""Where the figures of a run go while it runs. `kinds.py` has a row for each output."""
