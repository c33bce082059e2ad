"""Access to the page: tokens, logins and the hosts that requests may name."""
