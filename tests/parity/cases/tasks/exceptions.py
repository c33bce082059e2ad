"""An exception in a task: user_error, the table of exceptions, a wait, the next task; the exit code is 1."""

from locust import SequentialTaskSet, User, task
from parity import note


class Line(SequentialTaskSet):
    @task
    def fine(self):
        note("fine")

    @task
    def broken(self):
        raise ValueError("broken task")

    @task
    def worse(self):
        assert 1 == 2, "an assertion"

    @task
    def again(self):
        note("again")
        self.user.rounds += 1
        if self.user.rounds == 2:
            self.user.environment.runner.quit()


class Failing(User):
    tasks = [Line]
    rounds = 0

    def wait_time(self):
        note("wait")
        return 0


# compare: log
