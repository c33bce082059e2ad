"""The order of everything in a run that ends by itself, with hooks of users and task sets in between."""

from locust import HttpUser, TaskSet, events, task
from parity import note


def listen(kind):
    def listener(**arguments):
        note(f"listener of {kind}", sorted(arguments))

    getattr(events, kind).add_listener(listener)


for each in ("init", "test_start", "spawning_complete", "test_stopping", "test_stop", "quitting", "quit", "request"):
    listen(each)


@events.quitting.add_listener
def second(environment, **_):
    note("second listener of quitting")


class Ordered(HttpUser):
    def on_start(self):
        note("on_start")
        self.client.get("/start")

    def on_stop(self):
        note("on_stop")
        self.client.get("/stop")

    @task
    class Inner(TaskSet):
        def on_start(self):
            note("Inner.on_start")

        def on_stop(self):
            note("Inner.on_stop")
            self.client.get("/inner-stop")

        @task
        def work(self):
            note("work", self.user.environment.runner.state)
            self.client.get("/work")
            self.user.environment.runner.quit()
