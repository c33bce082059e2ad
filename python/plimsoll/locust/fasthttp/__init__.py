"""FastHttpUser: Locust's second HTTP user, with the quirks of its client and the same engine."""
