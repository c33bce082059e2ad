"""The benches' one error."""


class BenchError(Exception):
    """A measurement that could not be made, or that contradicts itself; the message says why."""
