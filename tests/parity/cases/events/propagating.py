"""StopUser and its kin get through from listeners of request; the request is not counted if they come first."""

from locust import HttpUser, events, task
from locust.exception import InterruptTaskSet, RescheduleTask, RescheduleTaskImmediately, StopUser
from parity import note

ERRORS = {"/stop": StopUser, "/again": RescheduleTask, "/at-once": RescheduleTaskImmediately, "/out": InterruptTaskSet}


@events.request.add_listener
def early(name, **_):
    if name in ERRORS:
        raise ERRORS[name]()


@events.init.add_listener
def init(environment, **_):
    def late(name, **_):
        if name == "/late":
            raise RescheduleTask()

    environment.events.request.add_listener(late)


class Raised(HttpUser):
    paths = iter(("/counted", "/again", "/at-once", "/late", "/again", "/counted", "/stop"))

    def wait_time(self):
        note("wait")
        return 0

    def on_stop(self):
        note("on_stop")

    @task
    def get(self):
        path = next(self.paths)
        note("task", path)
        self.client.get(path)
        note("done", path)


# run: -t 1
