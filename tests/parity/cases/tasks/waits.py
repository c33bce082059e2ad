"""What wait functions return, with seeds; where wait_time is looked for; wrong arguments; old attributes."""

import random
import time

from locust import (
    TaskSet,
    User,
    between,
    constant,
    constant_pacing,
    constant_throughput,
    events,
    poisson,
    task,
    wait_time,
)
from parity import note


class Waiter(User):
    wait_time = between(1, 4)
    min_wait = 5000
    max_wait = 9000

    @task
    def work(self):
        pass


class Owner(User):
    wait_time = constant(2)

    @task
    class Inner(TaskSet):
        @task
        def work(self):
            note("from the user", self.wait_time())
            note("the user's", self.user.wait_time())
            self.user.environment.runner.quit()


class Paced(User):
    wait_time = constant_pacing(5)

    @task
    def work(self):
        pass


@events.init.add_listener
def compute(environment, **_):
    random.seed(5)
    waiter = Waiter(environment)
    note("between", [waiter.wait_time() for _ in range(5)])
    random.seed(5)
    note("poisson", [poisson(2)(waiter) for _ in range(5)])
    note("constant", [constant(0.5)(waiter), constant(3)(waiter)])
    paced = Paced(environment)
    note("pacing", [round(paced.wait_time(), 1), round(paced.wait_time(), 1)])
    fast = constant_throughput(4)
    note("throughput", [round(fast(Waiter(environment)), 2)])
    note("module", sorted(name for name in vars(wait_time) if name in ("between", "constant", "poisson")))
    for wrong in (lambda: constant_throughput(0), lambda: poisson(0), lambda: poisson(-1)):
        try:
            wrong()(waiter)
        except Exception as error:
            note("wrong", error)
    began = time.monotonic()
    waiter._sleep(0)
    note("slept", time.monotonic() - began < 1)


# run: Owner
