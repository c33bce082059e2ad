"""What other load generators report about the same target: `python -m labs.truth --peers`."""
