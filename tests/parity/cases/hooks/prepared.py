"""A locustfile replaces for all sessions how requests are prepared."""

import requests
from locust import HttpUser, task
from parity import note

prepare = requests.Session.prepare_request


def prepare_request(session, request):
    prepared = prepare(session, request)
    note("prepare", [prepared.method, prepared.path_url])
    prepared.headers["X-Prepared"] = "yes"
    return prepared


requests.Session.prepare_request = prepare_request


class Client(HttpUser):
    @task
    def all(self):
        self.client.get("/get")
        self.client.post("/post", data={"a": "1"}, name="post")
        self.environment.runner.quit()


# run: -u 1
