"""Bodies of every type that requests takes."""

import io

from locust import HttpUser, task


class Stringy:
    def __str__(self):
        return "stringy"


class Bodies(HttpUser):
    @task
    def all(self):
        post = self.client.post
        post("/str", data="a=1&b=ü")
        post("/as-bytes", data=b"\x00\xff")
        post("/dict", data={"a": "1", "b": ["2", "3"], "c": None, "d": "ü &="})
        post("/pairs", data=[("a", "1"), ("a", "2")])
        post("/tuple", data=(("x", 1), ("y", 2.5)))
        post("/empty-dict", data={})
        post("/empty-str", data="")
        post("/none", data=None)
        post("/file", data=io.BytesIO(b"from a file"))
        post("/generator", data=(part for part in (b"one", b"two")))
        post("/json-str", json="text")
        post("/json-list", json=[1, 2.5, True, None])
        post("/json-zero", json=0)
        post("/json-empty", json={})
        post("/json-none", json=None)
        post("/both", data={"a": 1}, json={"b": 2})
        post("/own-type", data='{"a": 1}', headers={"Content-Type": "application/json"})
        post("/json-own-type", json={"a": 1}, headers={"content-type": "application/vnd.x+json"})
        post("/value", data={"o": Stringy()})
        self.environment.runner.quit()
