"""`python -m locust`, as a program calls it with runpy."""

import os
import runpy
import sys

from locust import HttpUser, events, task
from parity import note


@events.init.add_listener
def on_init(environment, **_):
    note("init", __name__)


class Client(HttpUser):
    @task
    def get(self):
        self.client.get("/get")
        self.environment.runner.quit()


if __name__ == "__main__":
    words = ["--headless", "-u", "1", "-H", os.environ["PARITY_TARGET"], "--only-summary"]
    sys.argv = ["locust", "-f", "locustfile.py,probe.py", *words]
    runpy.run_module("locust", run_name="__main__", alter_sys=True)

# option: script
