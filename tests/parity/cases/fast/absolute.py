"""An empty host: absolute URLs need none."""

import os

from locust import FastHttpUser, task
from parity import note

TARGET = os.environ["PARITY_TARGET"]


class Homeless(FastHttpUser):
    host = ""

    @task
    def all(self):
        note("host", self.host)
        note("base", self.client.base_url)
        note("get", self.client.get(f"{TARGET}/get").status_code)
        note("post", self.client.post(f"{TARGET}/post", json={"a": 1}).url)
        with self.rest("GET", f"{TARGET}/json", name="rest") as response:
            note("rest", response.js)
        self.environment.runner.quit()


# option: bare
# run: -f locustfile.py,probe.py --headless
# run empty: -f locustfile.py,probe.py --headless -H ""
