"""Every verb, with and without a body: the request line, headers in their order, and the body."""

from locust import HttpUser, task
from parity import note


class Verbs(HttpUser):
    @task
    def all(self):
        client = self.client
        client.get("/get")
        client.options("/options")
        client.head("/head")
        client.post("/post")
        client.post("/post-data", "text")
        client.post("/post-json", json={"b": 1, "a": [1, None, "ü"]})
        client.put("/put", {"k": "v"})
        client.patch("/patch", b"bytes")
        client.delete("/delete")
        client.delete("/delete-body", json={})
        client.request("GET", "/request")
        client.request("get", "/lower")
        client.request("PURGE", "/own")
        client.request(method="POST", url="/named", data="x")
        for one in (client.get("/json"), client.get("/text"), client.head("/json")):
            note("response", [one.status_code, one.ok, one.text, dict(one.headers), one.encoding, one.reason])
        self.environment.runner.quit()
