"""The names that a locustfile imports from `locust` or `plimsoll`.

This module imports gevent, but patches nothing; see `plimsoll.locust.install`. `__all__` lists the public names.
"""

import plimsoll.users.http.replaced  # noqa: F401 - before a script may replace functions of requests
from plimsoll import __version__
from plimsoll.locust.debug import run_single_user
from plimsoll.locust.environment import Environment as Environment
from plimsoll.locust.fasthttp.user import FastHttpUser
from plimsoll.locust.legacy import HttpLocust, Locust
from plimsoll.locust.shape import LoadTestShape
from plimsoll.users import wait_time
from plimsoll.users.events import EventHook as EventHook
from plimsoll.users.events import Events as Events
from plimsoll.users.events import events
from plimsoll.users.markov import MarkovTaskSet, transition, transitions
from plimsoll.users.sequential import SequentialTaskSet
from plimsoll.users.tasks import tag, task
from plimsoll.users.taskset import TaskSet
from plimsoll.users.user import HttpUser, User
from plimsoll.users.wait_time import between, constant, constant_pacing, constant_throughput, poisson

__all__ = [
    "FastHttpUser",
    "HttpLocust",
    "HttpUser",
    "LoadTestShape",
    "Locust",
    "MarkovTaskSet",
    "SequentialTaskSet",
    "TaskSet",
    "User",
    "__version__",
    "between",
    "constant",
    "constant_pacing",
    "constant_throughput",
    "events",
    "poisson",
    "run_single_user",
    "tag",
    "task",
    "transition",
    "transitions",
    "wait_time",
]
