"""A fast session that signs each request in `_send_request_safe_mode`."""

# run: -u 1

from locust import FastHttpUser, constant, task
from locust.contrib.fasthttp import FastHttpSession


class Signed(FastHttpSession):
    def _send_request_safe_mode(self, method, url, **kwargs):
        kwargs["headers"] = {**(kwargs.get("headers") or {}), "X-Signature": "s3cret"}
        return super()._send_request_safe_mode(method, url, **kwargs)


class User(FastHttpUser):
    wait_time = constant(0.01)

    @task
    def send(self):
        signed = Signed(base_url=self.host, request_event=self.environment.events.request, user=self)
        signed.get("/a", headers={"X-Given": "1"})
        signed.post("/b", json={"x": 1}, name="named")
        with signed.get("/c", catch_response=True) as response:
            response.failure("not good")
        self.environment.runner.quit()
