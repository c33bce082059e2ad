"""Names: `name=`, `rename_request`, `request_name`, `request_meta`, grouping."""

from locust import HttpUser, task
from parity import note


class Names(HttpUser):
    @task
    def all(self):
        client = self.client
        client.get("/a/1", name="/a/[id]")
        client.get("/a/2", name="")
        client.get("/a/3", name=None)
        with client.rename_request("/b/[id]"):
            client.get("/b/1")
            client.post("/b/2")
            client.get("/b/3", name="own")
        client.get("/b/4")
        client.request_name = "/c/[id]"
        client.get("/c/1")
        note("request_name", client.request_name)
        client.request_name = None
        with client.rename_request("outer"):
            with client.rename_request("inner"):
                client.get("/d")
            client.get("/e")
        with client.get("/f", catch_response=True) as response:
            response.request_meta["name"] = "changed"
            response.request_meta["request_type"] = "RPC"
            response.request_meta["context"]["added"] = True
        with client.get("/g", catch_response=True) as response:
            response.request_meta["response_time"] = 5000
            response.request_meta["response_length"] = 77
        response = client.get("/h")
        note("meta", response.request_meta["name"])
        client.get("/q?x=1")
        client.get("/q", params={"x": 2})
        self.environment.runner.quit()
