"""The keys lab: a key manager in front of an upstream that handles one request at a time, and its load."""
