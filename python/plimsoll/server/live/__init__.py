"""The run in progress, as the page sees it."""
