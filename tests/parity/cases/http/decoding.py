"""Bodies as they come: compressed, chunked, until the end of the connection, in several encodings."""

from locust import HttpUser, task
from parity import note


class Decoding(HttpUser):
    @task
    def all(self):
        for path in ("gzip", "deflate", "chunked", "unsized", "latin", "untyped", "json", "bytes/10", "bytes/0"):
            response = self.client.get(f"/{path}/") if "/" not in path else self.client.get(f"/{path}")
            note(path, [response.status_code, response.text[:40], len(response.content), response.encoding])
            note(f"{path} more", [response.apparent_encoding, response.is_redirect, list(response.headers)])
        note("json", self.client.get("/json").json())
        try:
            self.client.get("/text").json()
        except Exception as error:
            note("no json", [type(error).__name__, str(error), type(error).__mro__[1].__name__])
        for status in (204, 304, 205, 206, 226):
            response = self.client.get(f"/status/{status}")
            note("status", [response.status_code, response.content, response.ok, response.reason])
        bad = self.client.get("/badgzip/")
        note("bad", [bad.status_code, bad.content, bad.error])
        self.environment.runner.quit()
