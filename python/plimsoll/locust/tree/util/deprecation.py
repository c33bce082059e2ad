from plimsoll.users.legacy import FastHttpLocust as DeprecatedFastHttpLocustClass
from plimsoll.users.legacy import HttpLocust as DeprecatedHttpLocustClass
from plimsoll.users.legacy import Locust as DeprecatedLocustClass
from plimsoll.users.legacy import check_for_deprecated_task_set_attribute

__all__ = [
    "DeprecatedFastHttpLocustClass",
    "DeprecatedHttpLocustClass",
    "DeprecatedLocustClass",
    "check_for_deprecated_task_set_attribute",
]
