from plimsoll.users.util.rounding import proper_round

__all__ = ["proper_round"]
