"""FastHttpUser's own keywords; any other one becomes a parameter of the query."""

from locust import FastHttpUser, task
from parity import note


class Fast(FastHttpUser):
    default_headers = {"X-Default": "d"}

    @task
    def all(self):
        client = self.client
        client.get("/params", params={"a": 1, "b": "ü"})
        client.get("/headers", headers={"X-Own": "1", "User-Agent": "mine", "x-default": "own"})
        client.get("/guarded/1", auth=("u", "p"))
        client.get("/unknown", timeout=1, verify=False)
        client.post("/unknown", data={"a": 1}, timeout=1)
        client.post("/files", files={"f": ("a.txt", b"hello", "text/plain")})
        client.post("/both", json={"a": 1}, headers={"Content-Type": "application/own", "Accept": "text/plain"})
        note("off", client.get("/redirect/1", allow_redirects=False).status_code)
        note("stream", client.get("/bytes/1000", stream=True).content[:5])
        client.get("/context", context={"c": 1})
        client.get("/catch", catch_response=False)
        self.environment.runner.quit()
