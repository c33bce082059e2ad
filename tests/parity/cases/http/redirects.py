"""Redirects: chains, statuses and methods, headers on the way, another host, loops, and not following."""

from locust import HttpUser, task
from parity import note


class Redirected(HttpUser):
    @task
    def all(self):
        client = self.client
        show("chain", client.get("/redirect/3"))
        show("off", client.get("/redirect/1", allow_redirects=False))
        show("head", client.head("/redirect/1"))
        show("head on", client.head("/redirect/1", allow_redirects=True))
        for status in (301, 302, 303, 307, 308):
            show(f"post {status}", client.post(f"/moved/{status}?to=/end", json={"a": 1}))
            show(f"put {status}", client.put(f"/moved/{status}?to=/end", data="x"))
        show("relative", client.get("/moved/302?to=../next%3Fq%3D1"))
        show("fragment", client.get("/moved/302?to=/end%23part"))
        show("query", client.get("/moved/302?to=%3Fq%3D1"))
        other = self.host.replace("127.0.0.1", "localhost")
        show("host", client.get(f"/moved/302?to={other}/there", auth=("u", "p"), headers={"X-Kept": "1"}))
        show("same", client.get(f"/moved/302?to={self.host}/there", auth=("u", "p")))
        show("loop", client.get("/moved/302?to=/moved/302%3Fto%3D/moved/302"))
        client.max_redirects = 2
        show("too many", client.get("/redirect/3"))
        try:
            show("bad scheme", client.get("/moved/302?to=ftp://127.0.0.1/x"))
        except Exception as error:
            note("raised", error)
        show("refused", client.get("/moved/302?to=http://127.0.0.1:1/x"))
        show("login", client.get("/login/x"))
        show("after", client.get("/after"))
        self.environment.runner.quit()


def show(what, response):
    history = [[each.status_code, each.url] for each in response.history]
    note(what, [response.status_code, response.url, history, response.error])
