"""Load shapes: a class each, and the registry of all of them."""
