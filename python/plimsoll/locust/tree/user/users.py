from plimsoll.locust.pytest_user import PytestUser
from plimsoll.users.exceptions import CatchResponseError, StopTest, StopUser
from plimsoll.users.response import ResponseContextManager as RestResponseContextManager
from plimsoll.users.rest import RestMixin
from plimsoll.users.session import HttpSession
from plimsoll.users.tasks import collect_tasks as get_tasks_from_base_classes
from plimsoll.users.taskset import RUNNING as LOCUST_STATE_RUNNING
from plimsoll.users.taskset import STOPPING as LOCUST_STATE_STOPPING
from plimsoll.users.taskset import WAITING as LOCUST_STATE_WAITING
from plimsoll.users.taskset import DefaultTaskSet, TaskSet
from plimsoll.users.user import HttpUser, User, UserMeta
from plimsoll.users.wait_time import constant

__all__ = [
    "LOCUST_STATE_RUNNING",
    "LOCUST_STATE_STOPPING",
    "LOCUST_STATE_WAITING",
    "CatchResponseError",
    "DefaultTaskSet",
    "HttpSession",
    "HttpUser",
    "PytestUser",
    "RestMixin",
    "RestResponseContextManager",
    "StopTest",
    "StopUser",
    "TaskSet",
    "User",
    "UserMeta",
    "constant",
    "get_tasks_from_base_classes",
]
