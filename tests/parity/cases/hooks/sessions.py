"""A locustfile replaces functions of requests for all sessions: a signature, a count, an error."""

import requests
from locust import HttpUser, task
from parity import note
from requests.adapters import HTTPAdapter

request, send, adapter_send = requests.Session.request, requests.Session.send, HTTPAdapter.send


def count(session, method, url, *arguments, **named):
    note("Session.request", [type(session).__name__, method, sorted(named), len(arguments)])
    return request(session, method, url, *arguments, **named)


def sign(session, prepared, **named):
    note("Session.send", [prepared.method, prepared.path_url, sorted(named)])
    prepared.headers["X-Signed"] = f"{prepared.method} {prepared.path_url}"
    return send(session, prepared, **named)


def deliver(adapter, prepared, *arguments, **named):
    note("HTTPAdapter.send", [prepared.path_url, sorted(named), len(arguments)])
    if "refused" in prepared.path_url:
        raise requests.ConnectionError("not today")
    prepared.headers["X-Delivered"] = "yes"
    response = adapter_send(adapter, prepared, *arguments, **named)
    note("delivered", [response.status_code, response.reason])
    return response


requests.Session.request, requests.Session.send, HTTPAdapter.send = count, sign, deliver


class Client(HttpUser):
    @task
    def all(self):
        self.client.get("/get")
        self.client.post("/post", json={"a": 1}, name="post")
        self.client.get("/redirect/1")
        self.client.get("/status/404", headers={"X-Own": "1"}, timeout=5)
        self.client.get("/refused")
        with self.client.get("/get", catch_response=True, params={"b": "2"}) as response:
            response.failure("wrong")
        self.environment.runner.quit()


# run: -u 1
