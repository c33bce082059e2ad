"""A session of the locustfile's own replaces the steps that Locust and requests have."""

from locust import HttpUser, task
from locust.clients import HttpSession
from parity import note


class Session(HttpSession):
    def _build_url(self, path):
        return super()._build_url(path) + "?built=1"

    def _send_request_safe_mode(self, method, url, **named):
        note("safe mode", [method, sorted(named)])
        return super()._send_request_safe_mode(method, url, **named)

    def prepare_request(self, request):
        note("prepare", request.method)
        prepared = super().prepare_request(request)
        prepared.headers["X-Prepared"] = "yes"
        return prepared

    def send(self, request, **named):
        note("send", sorted(named))
        return super().send(request, **named)


class Client(HttpUser):
    def __init__(self, environment):
        super().__init__(environment)
        self.client = Session(self.host, environment.events.request, self)

    @task
    def all(self):
        self.client.get("/get")
        self.client.post("/post", data={"a": "1"}, name="post")
        self.environment.runner.quit()


# run: -u 1
