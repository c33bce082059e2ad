"""What verbs of the command share, and parts of verbs that are files of their own."""
