"""The benches' one error."""


class BenchError(Exception):
    """A measurement that failed, or that contradicts itself. The message says why."""
