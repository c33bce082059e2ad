"""Two tests in one process, tags, stop and start again, and what environments refuse."""

import os

import gevent
from locust import HttpUser, TaskSet, User, tag, task
from locust.env import Environment
from locust.exception import RunnerAlreadyExistsError
from parity import note


class Client(HttpUser):
    host = os.environ["PARITY_TARGET"]

    @tag("first")
    @task
    def first(self):
        self.client.get("/first")
        gevent.sleep(60)

    @tag("second")
    @task
    def second(self):
        self.client.get("/second")
        gevent.sleep(60)


environment = Environment(user_classes=[Client], tags=["first"])
environment.create_local_runner()
try:
    environment.create_local_runner()
except RunnerAlreadyExistsError as error:
    note("exists", error)
environment.runner.start(2, spawn_rate=2)
gevent.sleep(0.5)
environment.runner.stop()
note("first", [environment.runner.state, environment.stats.total.num_requests])
environment.runner.start(1, spawn_rate=1)
gevent.sleep(0.5)
environment.runner.quit()
note("second", [environment.runner.state, environment.stats.total.num_requests])


class Twin(User):
    pass


first = Twin


class Twin(User):
    pass


try:
    Environment(user_classes=[first, Twin])
except ValueError as error:
    note("twins", str(error).count("Twin"))
note("defaults", [Environment().host, Environment().stop_timeout, Environment().catch_exceptions])
note("task set", TaskSet(Client(environment)).user is not None)

# option: script unordered
