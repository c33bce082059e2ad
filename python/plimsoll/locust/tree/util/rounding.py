from plimsoll.locust.util.rounding import proper_round

__all__ = ["proper_round"]
