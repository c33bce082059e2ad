"""Who sends a request: the kinds of `auth` of a plan, a file for each that is more than a header."""
