"""The lab's two errors."""


class TruthError(Exception):
    """Something that the lab needs is missing or broke; the message says what to do."""


class NotJudgedError(Exception):
    """A case could not be made here and now: the message says why. It neither holds nor fails."""
