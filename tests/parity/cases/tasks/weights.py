"""Weights multiply a task's chances, and `random.choice` picks: the same seed gives the same tasks."""

import random

from locust import User, task
from parity import note


class Weighted(User):
    picked = 0

    def on_start(self):
        note("tasks", [each.__name__ for each in self.tasks])
        random.seed(7)

    def pick(self, name):
        note("pick", name)
        self.picked += 1
        if self.picked == 40:
            self.environment.runner.quit()

    @task
    def one(self):
        self.pick("one")

    @task(3)
    def three(self):
        self.pick("three")

    @task(weight=5)
    def five(self):
        self.pick("five")
