from plimsoll.users.legacy import FastHttpLocust as DeprecatedFastHttpLocustClass
from plimsoll.users.legacy import HttpLocust as DeprecatedHttpLocustClass
from plimsoll.users.legacy import Locust as DeprecatedLocustClass

__all__ = ["DeprecatedFastHttpLocustClass", "DeprecatedHttpLocustClass", "DeprecatedLocustClass"]
