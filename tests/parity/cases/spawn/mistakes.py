"""Two classes of the same name, weights of zero everywhere, a fixed count that does not fit."""

from locust import User, task
from parity import note


class Twice(User):
    weight = 0
    fixed_count = 0

    @task
    def work(self):
        note("work")


# compare: log
# run zero: -t 1
