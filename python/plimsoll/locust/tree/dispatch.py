from plimsoll.locust.dispatch import UsersDispatcher

__all__ = ["UsersDispatcher"]
