"""What a FastResponse has, for answers of every kind."""

from locust import FastHttpUser, task
from parity import note


class Fast(FastHttpUser):
    @task
    def all(self):
        for path in (
            "/text",
            "/json",
            "/gzip/",
            "/deflate/",
            "/chunked/",
            "/unsized/",
            "/latin/",
            "/untyped/",
            "/bytes/0",
        ):
            self.show(path, self.client.get(path))
        note("json", self.client.get("/json").json())
        try:
            self.client.get("/text").json()
        except Exception as error:
            note("no json", [type(error).__name__, str(error)])
        self.show("head", self.client.head("/text"))
        self.show("post", self.client.post("/echo", data="body"))
        note("bad gzip", self.client.get("/badgzip/").status_code)
        self.environment.runner.quit()

    def show(self, what, response):
        note(f"{what} is", [response.status_code, response.ok, response.text[:20], len(response.content), response.url])
        for attribute in ("encoding", "history", "error", "headers", "request", "elapsed", "stream", "cookies"):
            value = getattr(response, attribute, "no attribute")
            note(f"{what} {attribute}", dict(value) if attribute == "headers" else value)
        note(f"{what} header", response.headers.get("content-type"))
        note(f"{what} sent", [response.request.body, dict(response.request.headers or {})])
        note(f"{what} raises", response.raise_for_status())
