from plimsoll.users.environment import Environment

__all__ = ["Environment"]
