"""Headers: the defaults, those of the session, those of a request, their order, removal and odd values."""

from locust import HttpUser, task
from parity import note


class Headers(HttpUser):
    def on_start(self):
        note("default", dict(self.client.headers))
        self.client.headers.update({"X-Session": "1", "accept": "application/json"})

    @task
    def all(self):
        get = self.client.get
        get("/session")
        get("/own", headers={"X-Own": "2", "x-session": "3"})
        get("/without", headers={"Accept-Encoding": None, "User-Agent": None})
        get("/agent", headers={"user-agent": "mine/1.0"})
        get("/as-bytes", headers={"X-Bytes": b"value"})
        get("/empty", headers={"X-Empty": ""})
        get("/host", headers={"Host": "other.example"})
        get("/cookie", headers={"Cookie": "a=1"})
        get("/connection", headers={"Connection": "close"})
        self.client.headers["X-Later"] = "4"
        del self.client.headers["X-Session"]
        get("/later")
        self.client.headers = {"Only": "this"}
        get("/only")
        for wrong in ({"X-Int": 1}, {"X-Line": "a\r\nb"}, {" X-Space": "a"}):
            try:
                response = get("/wrong", headers=wrong)
                note("wrong", [response.status_code, response.error])
            except Exception as error:
                note("raised", error)
        self.environment.runner.quit()
