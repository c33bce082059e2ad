from plimsoll.locust.legacy import FastHttpLocust as DeprecatedFastHttpLocustClass
from plimsoll.locust.legacy import HttpLocust as DeprecatedHttpLocustClass
from plimsoll.locust.legacy import Locust as DeprecatedLocustClass
from plimsoll.locust.legacy import check_for_deprecated_task_set_attribute

__all__ = [
    "DeprecatedFastHttpLocustClass",
    "DeprecatedHttpLocustClass",
    "DeprecatedLocustClass",
    "check_for_deprecated_task_set_attribute",
]
