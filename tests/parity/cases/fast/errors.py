"""What FastHttpUser makes of connections that are refused, reset, closed or cut off, and of nonsense and timeouts."""

from locust import FastHttpUser, task
from parity import note


class Fast(FastHttpUser):
    network_timeout = 0.3
    connection_timeout = 0.3

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
            "/slow/1000",
        ):
            self.show(url, lambda url=url: self.client.get(url))
        self.show("post", lambda: self.client.post("/close/2", data="x"))
        self.client.get("/once/1")
        self.client.get("/once/2")
        self.client.get("/goodbye/1")
        with self.client.get("/close/3", catch_response=True) as response:
            note("caught", [response.status_code, response.content])
            response.failure("given up")
        with self.client.get("/close/4", catch_response=True) as response:
            response.success()
        self.client.get("/after")
        self.environment.runner.quit()

    def show(self, what, send):
        try:
            response = send()
        except Exception as error:
            note(f"{what} raised", error)
            return
        note(f"{what} error", getattr(response, "error", "no attribute"))
        note(f"{what} is", [response.status_code, response.content, response.text, response.headers, response.ok])
        for attribute in ("json", "raise_for_status", "url", "history"):
            try:
                value = getattr(response, attribute)
                note(f"{what} {attribute}", value() if callable(value) else value)
            except Exception as error:
                note(f"{what} {attribute} raised", error)
