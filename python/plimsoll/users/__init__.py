"""Users in Python: their classes, tasks and waits, the HTTP session, and gevent's hub with the engine in it.

Importing this package imports gevent, but patches nothing. `plimsoll.locust.api` has the names for locustfiles.
"""

from plimsoll.users import wait_time
from plimsoll.users.events import EventHook, Events, events
from plimsoll.users.markov import MarkovTaskSet, transition, transitions
from plimsoll.users.sequential import SequentialTaskSet
from plimsoll.users.tasks import tag, task
from plimsoll.users.taskset import TaskSet
from plimsoll.users.user import HttpUser, User
from plimsoll.users.wait_time import between, constant, constant_pacing, constant_throughput, poisson

__all__ = [
    "EventHook", "Events", "HttpUser", "MarkovTaskSet", "SequentialTaskSet", "TaskSet", "User", "between",
    "constant", "constant_pacing", "constant_throughput", "events", "poisson", "tag", "task", "transition",
    "transitions", "wait_time",
]  # fmt: skip
