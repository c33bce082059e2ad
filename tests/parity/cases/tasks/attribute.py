"""`tasks` as a list, as a dict with weights, of functions and of task sets; `task` on a nested class."""

import random

from locust import TaskSet, User, task
from parity import note


def plain(user):
    note("plain", type(user).__name__)
    user.step()


def other(user):
    note("other", type(user).__name__)
    user.step()


class Inner(TaskSet):
    @task
    def inner(self):
        note("inner", type(self.user).__name__)
        self.user.step()
        self.interrupt()


class Listing(User):
    tasks = [plain, other, Inner]
    steps = 0

    def on_start(self):
        random.seed(3)

    def step(self):
        self.steps += 1
        if self.steps == 12:
            self.environment.runner.quit()


class Weighing(Listing):
    tasks = {plain: 2, Inner: 3}
    fixed_count = 0

    @task(2)
    class Nested(TaskSet):
        tasks = [lambda self: note("lambda", type(self).__name__)]

        @task
        def leave(self):
            note("leave")
            self.user.step()
            self.interrupt(reschedule=False)


note("tasks of Listing", [each.__name__ for each in Listing.tasks])
note("tasks of Weighing", [each.__name__ for each in Weighing.tasks])
# run list: Listing
# run dict: Weighing
