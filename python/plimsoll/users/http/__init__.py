"""HTTP as Python users see it: the session, what a request is made of, and what comes back."""
