"""Connections that are refused, reset, closed, cut off or answered with nonsense; names that do not resolve."""

import time

from locust import HttpUser, task
from parity import note


class Errors(HttpUser):
    @task
    def all(self):
        for url in (
            "http://127.0.0.1:1/refused",
            "https://127.0.0.1:1/refused",
            "http://no-such-host.invalid/",
            "/close/1",
            "/reset/1",
            "/truncated/1",
            "/garbage/1",
        ):
            self.show(url, self.client.get(url))
        self.show("post", self.client.post("/close/2", data="x"))
        self.client.get("/once/1")
        # By then the target has closed the connection for certain, and both tools know: what a request that meets the
        # end of its connection comes to is a matter of microseconds.
        time.sleep(0.3)
        self.client.get("/once/2")
        self.client.get("/goodbye/1")
        self.client.get("/after")
        self.environment.runner.quit()

    def show(self, what, response):
        note(f"{what} error", response.error)
        note(f"{what} is", [response.status_code, response.content, response.url, response.reason, response.history])
        for attribute in ("ok", "text", "headers", "json", "raise_for_status", "elapsed", "request"):
            try:
                value = getattr(response, attribute)
                note(f"{what} {attribute}", value() if attribute in ("json", "raise_for_status") else value)
            except Exception as error:
                note(f"{what} {attribute} raised", error)
