"""The lab's two errors."""


class TruthError(Exception):
    """Something that the lab needs is missing or failed. The message says what to do."""


class NotJudgedError(Exception):
    """A case could not be measured now. The message says why. It neither passes nor fails."""
