"""Task sets in task sets: parent, user, client, the order of hooks, and `interrupt` in both ways."""

from locust import HttpUser, SequentialTaskSet, task
from parity import note


class Deep(SequentialTaskSet):
    def on_start(self):
        note("Deep.on_start", [type(self.parent).__name__, type(self.user).__name__, self.client is self.user.client])

    def on_stop(self):
        note("Deep.on_stop")

    @task
    def deep(self):
        self.client.get("/deep")

    @task
    def leave(self):
        self.interrupt(reschedule=False)


class Shallow(SequentialTaskSet):
    tasks = [Deep]

    def on_start(self):
        note("Shallow.on_start", type(self.parent).__name__)

    def on_stop(self):
        note("Shallow.on_stop")

    def wait_time(self):
        note("Shallow.wait_time")
        return 0

    @task
    def go(self):
        note("Shallow.go")

    @task
    def leave(self):
        self.interrupt()


class Root(SequentialTaskSet):
    tasks = [Shallow]

    @task
    def done(self):
        note("Root.done")
        self.user.rounds += 1
        if self.user.rounds == 2:
            self.user.environment.runner.quit()


class Nester(HttpUser):
    tasks = [Root]
    rounds = 0

    def wait_time(self):
        note("Nester.wait_time")
        return 0

    def on_start(self):
        note("Nester.on_start")

    def on_stop(self):
        note("Nester.on_stop")
