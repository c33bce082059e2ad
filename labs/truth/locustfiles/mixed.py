"""Users with one failing request after another, each followed by a good one: does the run continue?"""

import os

from locust import HttpUser, task

CLOSED = os.environ["TRUTH_CLOSED_URL"]
TLS = os.environ["TRUTH_TLS_URL"]


class Mixed(HttpUser):
    @task
    def all(self) -> None:
        self.client.get("/never", timeout=0.2)
        self.good()
        self.client.get("/status?code=503")
        self.good()
        for at in ("before", "head", "body"):
            self.client.get(f"/reset?at={at}")
            self.good()
        for path in ("/malformed?kind=not-http", "/endless-header", "/wrong-length?by=10"):
            self.client.get(path)
            self.good()
        with self.client.get("/fixed?ms=0&judged", catch_response=True) as response:
            response.failure("not what was wanted")
        self.good()
        self.client.get(f"{CLOSED}/connect", name="/connect")
        self.good()
        self.client.get(f"{TLS}/tls", name="/tls")
        self.good()

    def good(self) -> None:
        self.client.get("/fixed?ms=0")
