"""Fuzzing: see README.md."""

CI_SECONDS = 20
"""For each target and kind of file that CI fuzzes. The known inputs of a target take a second of it. `make fuzz` takes
a minute for each."""
