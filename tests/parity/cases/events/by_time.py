"""The same when the run is ended by -t, with and without time to finish."""

import time

from locust import HttpUser, task
from parity import note


class Timed(HttpUser):
    def on_stop(self):
        note("on_stop")

    @task
    def work(self):
        note("begin")
        self.client.get("/slow/300")
        time.sleep(2.5)
        note("slept")
        self.client.get("/after")
        time.sleep(60)


# run killed: -t 2
# run patient: -t 2 -s 3
