from plimsoll.users.tasks import collect_tasks as get_tasks_from_base_classes
from plimsoll.users.tasks import filter_tasks_by_tags, tag, task
from plimsoll.users.taskset import RUNNING as LOCUST_STATE_RUNNING
from plimsoll.users.taskset import STOPPING as LOCUST_STATE_STOPPING
from plimsoll.users.taskset import WAITING as LOCUST_STATE_WAITING
from plimsoll.users.taskset import DefaultTaskSet, TaskSet, TaskSetMeta

__all__ = [
    "LOCUST_STATE_RUNNING",
    "LOCUST_STATE_STOPPING",
    "LOCUST_STATE_WAITING",
    "DefaultTaskSet",
    "TaskSet",
    "TaskSetMeta",
    "filter_tasks_by_tags",
    "get_tasks_from_base_classes",
    "tag",
    "task",
]
