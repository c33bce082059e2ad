"""StopTest ends the test from wherever it is raised."""

from locust import TaskSet, User, task
from locust.exception import StopTest
from parity import note


class Stopping(User):
    def on_start(self):
        note("on_start")

    def on_stop(self):
        note("on_stop")

    @task
    class Inner(TaskSet):
        def on_stop(self):
            note("Inner.on_stop")

        @task
        def stop(self):
            note("task")
            raise StopTest("enough")


class Starting(Stopping):
    def on_start(self):
        raise StopTest("at once")


# run task: Stopping
# run start: Starting
# compare: log
