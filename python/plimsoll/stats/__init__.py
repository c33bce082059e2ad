"""Values in, values out: what a run's recorded intervals amount to. No I/O, no clock."""
