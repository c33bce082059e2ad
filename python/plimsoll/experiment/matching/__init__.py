"""Separate studies as one, so that they are compared: endpoints under one name, levels that all have."""
