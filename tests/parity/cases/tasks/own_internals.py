"""User and TaskSet with the internals that scripts replace: `wait`, `_sleep`, `stop`, `start`, the steps of a turn."""

from locust import TaskSet, User, task
from parity import note


class Inner(TaskSet):
    def wait_time(self):
        return 0.01 if self.user.turns < 3 else 60

    def wait(self):
        note("wait")
        super().wait()

    def get_next_task(self):
        picked = super().get_next_task()
        note("next", picked.__name__)
        return picked

    def execute_task(self, task):
        note("execute", task.__name__)
        return super().execute_task(task)

    def _sleep(self, seconds):
        note("sleep", seconds)
        super()._sleep(seconds)

    @task
    def work(self):
        note("work")
        self.user.turns += 1


class Own(User):
    tasks = [Inner]
    turns = 0

    def start(self, group):
        note("start")
        return super().start(group)

    def stop(self, force=False):
        note("stop", force)
        return super().stop(force)

    def on_stop(self):
        note("on_stop")


# run at-once: -u 1 -t 2
# run in-time: -u 1 -t 2 --stop-timeout 5
