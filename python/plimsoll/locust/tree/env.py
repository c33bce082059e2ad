from plimsoll.locust.environment import Environment

__all__ = ["Environment"]
