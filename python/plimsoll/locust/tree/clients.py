from plimsoll.users.response import ResponseContextManager
from plimsoll.users.response import ResponseContextManager as RestResponseContextManager
from plimsoll.users.session import HttpSession

__all__ = ["HttpSession", "ResponseContextManager", "RestResponseContextManager"]
