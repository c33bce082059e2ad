from plimsoll.users.response import ResponseContextManager
from plimsoll.users.response import ResponseContextManager as RestResponseContextManager
from plimsoll.users.session import HttpSession
from plimsoll.users.url import ABSOLUTE as absolute_http_url_regexp  # noqa: N811 - Locust calls it so

__all__ = ["HttpSession", "ResponseContextManager", "RestResponseContextManager", "absolute_http_url_regexp"]
