"""The program is the locustfile: it is imported once more, under its own name."""

import os
import sys

from locust import HttpUser, events, main, task
from parity import note


@events.test_start.add_listener
def on_start(environment, **_):
    note("test_start of", __name__)


class Client(HttpUser):
    @task
    def get(self):
        self.client.get("/get")
        self.environment.runner.quit()


if __name__ == "__main__":
    words = ["--headless", "-u", "1", "-H", os.environ["PARITY_TARGET"], "--only-summary"]
    sys.argv = ["locust", "-f", __file__, *words]
    main.main()

# option: script
