"""The lab's one error."""


class LabError(Exception):
    """Something the lab needs is missing or did not start; the message says what to do."""
