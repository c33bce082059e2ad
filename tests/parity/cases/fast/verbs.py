"""FastHttpUser: every verb and every type of body, on the wire."""

from locust import FastHttpUser, task
from parity import note


class Fast(FastHttpUser):
    @task
    def all(self):
        client = self.client
        client.get("/get")
        client.head("/head")
        client.options("/options")
        client.post("/post")
        client.post("/str", data="a=1&b=ü")
        client.post("/as-bytes", data=b"\x00\xff")
        client.post("/dict", data={"a": "1", "b": "ü &="})
        client.post("/dict-list", data={"a": ["1", "2"]})
        client.post("/json", json={"b": 1, "a": [1, None, "ü"]})
        client.post("/json-empty", json={})
        client.put("/put", data="x")
        client.patch("/patch", data="x")
        client.patch("/patch-json", json=[1])
        client.delete("/delete")
        client.request("get", "/lower")
        client.request("PURGE", "/own")
        client.request(method="POST", url="/named", data="x", name="named")
        client.iter_lines("/chunked/")
        note("lines", list(client.iter_lines("/chunked/")))
        self.environment.runner.quit()
