"""What the numbers of a study say beyond a comparison. A new rule is a file with a function, and a line in `RULES`."""
