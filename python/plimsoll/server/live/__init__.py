"""The run in progress, as the page shows it."""
