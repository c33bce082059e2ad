from plimsoll.users.tasks import tag, task
from plimsoll.users.taskset import TaskSet
from plimsoll.users.user import HttpUser, User

__all__ = ["HttpUser", "TaskSet", "User", "tag", "task"]
