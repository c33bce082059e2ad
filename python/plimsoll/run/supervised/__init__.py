"""Commands that end when this process does: targets, hooks, and runs in a process of their own."""
