"""sys.exit in a locustfile and in a task."""

import sys

from locust import User, events, task
from parity import note


@events.test_stop.add_listener
def stopped(**_):
    note("stopped")


class Exiting(User):
    @task
    def leave(self):
        note("task")
        sys.exit(5)


# run: -t 1
