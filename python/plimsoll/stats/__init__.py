"""Pure functions of a run's recorded intervals. No I/O, no clock."""
