"""A session that signs each request in `_send_request_safe_mode`, one with its own `request`, and steps of requests."""

# run: -u 1

from locust import HttpUser, constant, task
from locust.clients import HttpSession


class Signed(HttpSession):
    def _send_request_safe_mode(self, method, url, **kwargs):
        kwargs["headers"] = {**(kwargs.get("headers") or {}), "X-Signature": "s3cret"}
        return super()._send_request_safe_mode(method, url, **kwargs)

    def prepare_request(self, request):
        prepared = super().prepare_request(request)
        prepared.headers["X-Prepared"] = "1"
        return prepared


class Own(HttpSession):
    def request(self, method, url, name=None, **kwargs):
        self.explicit_name = name
        response = self._send_request_safe_mode(method, self._build_url(url), **kwargs)
        self.request_event.fire(
            request_type=method, name=name or url, response_time=1, response_length=len(response.content or b""),
            response=None, context={}, exception=getattr(response, "error", None),
        )  # fmt: skip
        return response


class User(HttpUser):
    wait_time = constant(0.01)

    @task
    def send(self):
        hook = self.environment.events.request
        signed = Signed(base_url=self.host, request_event=hook, user=self)
        signed.get("/a", headers={"X-Given": "1"})
        signed.post("/b", json={"x": 1}, name="named")
        with signed.get("/c", catch_response=True) as response:
            response.failure("not good")
        Own(base_url=self.host, request_event=hook, user=self).get("/d", name="own")
        self.environment.runner.quit()
