"""The lab's one error."""


class LabError(Exception):
    """Something that the lab needs is missing or did not start. The message says what to do."""
