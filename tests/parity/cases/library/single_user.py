"""run_single_user: the file is run as a script, one user, what it sends is printed."""

import os

from locust import HttpUser, run_single_user, task
from locust.exception import StopUser
from parity import note


class Single(HttpUser):
    host = os.environ["PARITY_TARGET"]

    def on_start(self):
        note("on_start")

    def on_stop(self):
        note("on_stop")

    @task
    def get(self):
        self.client.get("/get")
        self.client.get("/status/404")
        raise StopUser


if __name__ == "__main__":
    run_single_user(Single)
    note("after")

# option: script
