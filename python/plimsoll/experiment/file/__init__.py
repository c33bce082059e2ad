"""experiment.toml: its tables, and the one way from the file to an `Experiment`."""
