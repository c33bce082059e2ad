from plimsoll.users.pytest_user import PytestUser
from plimsoll.users.rest import RestMixin
from plimsoll.users.user import HttpUser, User, UserMeta

__all__ = ["HttpUser", "PytestUser", "RestMixin", "User", "UserMeta"]
