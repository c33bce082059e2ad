from plimsoll.users.user import HttpUser, User, UserMeta

__all__ = ["HttpUser", "User", "UserMeta"]
