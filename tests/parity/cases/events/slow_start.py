"""A listener of test_start that takes longer than the run may."""

import gevent
from locust import User, events, task
from locust.exception import StopUser
from parity import note


@events.test_start.add_listener
def prepare(**_):
    gevent.sleep(3)


class Visitor(User):
    @task
    def work(self):
        note("a user works")
        raise StopUser


# run: -t 1
