"""Finished runs and experiments, as the page lists and draws them."""
