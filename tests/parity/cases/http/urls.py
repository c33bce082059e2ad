"""URLs: plain concatenation with the host, slashes, absolute URLs, quoting, params, fragments."""

from locust import HttpUser, task
from parity import note


class Urls(HttpUser):
    @task
    def all(self):
        get = self.client.get
        for path in (
            "/a b",
            "/ü",
            "/%41%2f%zz",
            "/q?x=1&y=a b",
            "/q?",
            "/frag#part",
            "//double",
            "/./dot/../up",
            "/semi;p=1",
            "/q?x=ü",
            "/[brackets]",
            "/plus+plus?a+b",
            "",
            "?only=query",
        ):
            get(path)
        get("/params", params={"a": 1, "b": ["x", "y"], "c": None, "d": "ü ü"})
        get("/params?z=0", params={"a": 1})
        get("/params", params=[("k", "1"), ("k", "2")])
        get("/params", params="raw=1&b")
        get("/params", params=b"raw=bytes")
        get("/params", params={})
        get(self.host + "/absolute?x=1")
        get(self.host.replace("http", "HTTP") + "/upper")
        get(self.host + "/absolute", name="named")
        for wrong in ("no-slash", "ftp://127.0.0.1/x", "http://", "http://127.0.0.1:99999/", "http:///x"):
            try:
                response = get(wrong)
                note("wrong", [wrong, response.status_code, response.error])
            except Exception as error:
                note("raised", [wrong, error])
        self.environment.runner.quit()
