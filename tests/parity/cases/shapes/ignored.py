"""Options that a shape does not read are ignored, with a warning; tick may be a generator's next value."""

from locust import LoadTestShape, User, between, task
from parity import note


class Waiting(User):
    wait_time = between(9, 9)

    @task
    def work(self):
        note("work")


class Ticking(LoadTestShape):
    ticks = iter([(1, 1), (1, 1), (2, 2), None])

    def tick(self):
        value = next(self.ticks)
        note("tick", value)
        return value


# compare: log
# run: -u 5 -r 5 -t 60
