from plimsoll.locust.util.cache import memoize

__all__ = ["memoize"]
