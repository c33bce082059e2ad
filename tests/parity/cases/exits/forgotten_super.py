"""Classes whose `__init__` forgets that of their base."""

from locust import TaskSet, User, constant, task
from locust.exception import StopUser


class NoUser(User):
    wait_time = constant(0.1)

    def __init__(self, environment):
        self.name = "Ann"

    @task
    def work(self):
        pass


class Own(User):
    def __init__(self, environment):
        self.environment = environment
        self.turns = 0

    @task
    def work(self):
        self.turns += 1
        if self.turns == 3:
            self.environment.runner.quit()
            raise StopUser


class Basket(TaskSet):
    def __init__(self, parent):
        self.shopper = parent

    @task
    def work(self):
        pass


class Shopper(User):
    wait_time = constant(10)
    tasks = [Basket]


# run user: NoUser -t 1
# run own-environment: Own
# run task-set: Shopper -t 1
