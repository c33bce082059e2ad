from plimsoll.run.users_dispatcher import UsersDispatcher

__all__ = ["UsersDispatcher"]
