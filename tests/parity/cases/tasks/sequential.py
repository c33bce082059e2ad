"""A SequentialTaskSet goes through its tasks in the order of their declaration, weights repeat, and begins again."""

from locust import SequentialTaskSet, TaskSet, User, constant, task
from parity import note


class Once(TaskSet):
    @task
    def once(self):
        note("once")
        self.interrupt()


def plain(tasks):
    note("plain", type(tasks).__name__)


class Line(SequentialTaskSet):
    turn = 0

    @task
    def first(self):
        self.turn += 1
        note("first", self.turn)

    tasks = [plain, Once]

    @task(3)
    def second(self):
        note("second")

    @task
    class Nested(SequentialTaskSet):
        @task
        def inner(self):
            note("inner")

        @task
        def leave(self):
            self.interrupt()

    @task
    def last(self):
        note("last")
        if self.turn == 2:
            self.user.environment.runner.quit()


class Walker(User):
    wait_time = constant(0)
    tasks = [Line]
