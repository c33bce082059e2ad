"""Other load generators with the same target: `python -m labs.truth --peers`."""
