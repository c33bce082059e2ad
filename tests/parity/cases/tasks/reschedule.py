"""RescheduleTask waits first, RescheduleTaskImmediately does not; the rest of the task is left out in both."""

from locust import SequentialTaskSet, User, task
from locust.exception import RescheduleTask, RescheduleTaskImmediately
from parity import note


class Line(SequentialTaskSet):
    @task
    def first(self):
        note("first")
        raise RescheduleTask()

    @task
    def second(self):
        note("second")
        raise RescheduleTaskImmediately()

    @task
    def third(self):
        note("third")
        self.user.rounds += 1
        if self.user.rounds == 2:
            self.user.environment.runner.quit()


class Again(User):
    tasks = [Line]
    rounds = 0

    def wait_time(self):
        note("wait")
        return 0
