"""FastHttpUser's cookies."""

from locust import FastHttpUser, task
from parity import note


class Fast(FastHttpUser):
    @task
    def all(self):
        client = self.client
        client.get("/cookie/a=1")
        client.get("/then")
        client.get("/cookie/b=2%3B%20Path=%2F")
        client.get("/cookie/c=3%3B%20Path=%2Fdeep")
        client.get("/other")
        client.get("/deep/inside")
        client.get("/own", headers={"Cookie": "own=4"})
        note("jar", sorted([each.name, each.value, each.path] for each in client.cookiejar))
        response = client.get("/cookie/d=5%3B%20Path=%2F")
        note("response", [response.status_code, response.headers.get("set-cookie"), hasattr(response, "cookies")])
        client.cookiejar.clear()
        client.get("/cleared")
        self.environment.runner.quit()
