from plimsoll.users.util.cache import memoize

__all__ = ["memoize"]
