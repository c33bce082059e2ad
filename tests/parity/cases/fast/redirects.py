"""FastHttpUser's redirects: chains, statuses, HEAD, loops, cookies and headers on the way."""

from locust import FastHttpUser, task
from parity import note


class Fast(FastHttpUser):
    max_redirects = 4

    @task
    def all(self):
        client = self.client
        self.show("chain", client.get("/redirect/3"))
        self.show("head", client.head("/redirect/1"))
        self.show("off", client.get("/redirect/1", allow_redirects=False))
        for status in (301, 302, 303, 307, 308):
            self.show(f"post {status}", client.post(f"/moved/{status}?to=/end", data="x"))
        self.show("json", client.post("/moved/303?to=/end", json={"a": 1}))
        self.show("relative", client.get("/moved/302?to=../next%3Fq%3D1"))
        self.show("too many", client.get("/redirect/6"))
        self.show("refused", client.get("/moved/302?to=http://127.0.0.1:1/x"))
        self.show("login", client.get("/login/x"))
        self.show("after", client.get("/after"))
        self.show("error", client.get("/moved/302?to=/status/500"))
        self.environment.runner.quit()

    def show(self, what, response):
        history = len(response.history) if response.status_code else None
        note(what, [response.status_code, response.url, history])
