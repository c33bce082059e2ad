"""`stream=True`: length by Content-Length, the body afterwards, lines, iterating, closing."""

from locust import HttpUser, task
from parity import note


class Streaming(HttpUser):
    @task
    def all(self):
        get = self.client.get
        note("content", get("/bytes/2000", stream=True).content[:5])
        note("lines", list(get("/chunked/", stream=True).iter_lines()))
        note("iter", [len(part) for part in get("/bytes/2500", stream=True).iter_content(1000)])
        note("whole", [len(part) for part in get("/bytes/2500").iter_content(1000)])
        with get("/bytes/100", stream=True, catch_response=True) as response:
            note("with", len(response.content))
        with get("/bytes/100", stream=True, catch_response=True) as response:
            note("caught", len(response.content))
            response.success()
        response = get("/bytes/500000", stream=True)
        note("raw", len(response.raw.read(10)))
        response.close()
        note("gzip", len(get("/gzip/", stream=True).content))
        note("error", get("/status/500", stream=True).text)
        get("/after")
        self.environment.runner.quit()
