"""The keys lab: a key manager in front of an upstream that does one thing at a time, and the load on it."""
