from . import wait_time
from .task import TaskSet, tag, task
from .users import HttpUser, User

# Relative, so that the submodules are there before these names: the import system binds each submodule to its name as
# it loads it, and `task` must be the decorator whoever imports `locust.user.task` later.
__all__ = ["HttpUser", "TaskSet", "User", "tag", "task", "wait_time"]
