"""`rest`: headers, what becomes of bodies that are not JSON, of assertions and of exceptions, and `rest_`."""

from locust import FastHttpUser, HttpUser
from parity import note


def calls(self):
    with self.rest("GET", "/json") as response:
        note("js", response.js)
        assert response.js["a"] == 1
    with self.rest("POST", "/json", json={"x": 1}, headers={"X-Own": "1"}) as response:
        assert response.js["a"] == 2, "a is not 2"
    with self.rest("GET", "/json", name="comma") as response:
        assert response.js["a"] == 2, "a is not 2,"
    with self.rest("GET", "/json", name="bare") as response:
        assert response.js is None
    with self.rest("GET", "/text", name="no json") as response:
        note("text", [response.js, response.status_code])
    with self.rest("GET", "/bytes/0", name="empty") as response:
        note("empty", response.js)
    with self.rest("GET", "/json", name="key error") as response:
        note("never", response.js["missing"])
    with self.rest("GET", "/status/500", name="500") as response:
        note("500", response.js)
    with self.rest("GET", "/status/404", name="forgiven") as response:
        response.success()
    with self.rest("GET", "/json", name="failed") as response:
        response.failure("own words")
    with self.rest("GET", "http://127.0.0.1:1/x", name="refused") as response:
        note("refused", [response.status_code, response.js])
    with self.rest("DELETE", "/json", name="delete"):
        pass
    self.environment.runner.quit()


class Http(HttpUser):
    tasks = [calls]


class Fast(FastHttpUser):
    tasks = [calls]


# run http: Http
# run fast: Fast
