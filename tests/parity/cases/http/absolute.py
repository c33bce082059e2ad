"""An empty host: absolute URLs need none; a path alone is no URL."""

import os

from locust import HttpUser, task
from parity import note

TARGET = os.environ["PARITY_TARGET"]


class Homeless(HttpUser):
    host = ""

    @task
    def all(self):
        note("host", self.host)
        note("base", self.client.base_url)
        note("get", self.client.get(f"{TARGET}/get").status_code)
        note("post", self.client.post(f"{TARGET}/post", json={"a": 1}).url)
        note("upper case", self.client.get(TARGET.replace("http", "HTTP") + "/upper").url)
        with self.rest("GET", f"{TARGET}/json", name="rest") as response:
            note("rest", response.js)
        for path in ("/path", "path", "", "//127.0.0.1/x", "ftp://127.0.0.1/x"):
            try:
                note(f"path {path}", self.client.get(path).status_code)
            except Exception as error:
                note(f"path {path}", error)
        self.environment.runner.quit()


# option: bare
# run: -f locustfile.py,probe.py --headless
# run empty: -f locustfile.py,probe.py --headless -H ""
