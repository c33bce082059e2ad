from plimsoll.users.failure import LocustBadStatusCode
from plimsoll.users.fast import ErrorResponse, FastHttpSession, FastResponse
from plimsoll.users.fast import FastResponse as ResponseContextManager
from plimsoll.users.fast import FastResponse as RestResponseContextManager
from plimsoll.users.fast_user import FastHttpUser
from plimsoll.users.legacy import FastHttpLocust

__all__ = [
    "ErrorResponse",
    "FastHttpLocust",
    "FastHttpSession",
    "FastHttpUser",
    "FastResponse",
    "LocustBadStatusCode",
    "ResponseContextManager",
    "RestResponseContextManager",
]
