"""Cookies: set, sent, replaced, expired, by path, of the request, of the session; each user has its own."""

from locust import HttpUser, task
from parity import note


class Cookies(HttpUser):
    @task
    def all(self):
        client = self.client
        client.get("/cookie/a=1")
        client.get("/then")
        client.get("/cookie/b=2%3B%20Path=%2Fdeep")
        client.get("/deep/inside")
        client.get("/deeper")
        client.get("/cookie/a=changed%3B%20Path=%2F")
        client.get("/now")
        client.get("/own", cookies={"own": "3", "a": "mine"})
        client.cookies.set("set", "4")
        client.get("/with-set")
        client.get("/header", headers={"Cookie": "h=5"})
        client.get("/cookie/a=gone%3B%20Path=%2F%3B%20Max-Age=0")
        client.get("/without")
        client.get("/cookie/s=6%3B%20Secure%3B%20Path=%2F")
        client.get("/cookie/d=7%3B%20Domain=other.example")
        client.get("/quoted")
        client.get('/cookie/q="a b"')
        response = client.get("/cookie/last=8%3B%20HttpOnly%3B%20Path=%2F")
        note("response", response.cookies.get_dict())
        note("jar", client.cookies.get_dict())
        note("paths", sorted([each.name, each.path] for each in client.cookies))
        client.cookies.clear()
        client.get("/cleared")
        self.environment.runner.quit()
