"""HttpSession made by hand, and with a pool of connections that users share."""

from locust import HttpUser, task
from locust.clients import HttpSession
from locust.env import Environment
from parity import note
from urllib3 import PoolManager


class Owner(HttpUser):
    pool_manager = PoolManager(maxsize=1, block=True)

    @task
    def own(self):
        self.client.get("/shared")
        session = HttpSession(base_url=self.host, request_event=self.environment.events.request, user=self)
        session.get("/by-hand")
        other = HttpSession(self.host + "/base", self.environment.events.request, self)
        other.headers["X-Other"] = "1"
        other.get("/path", name="other")
        note("base", other.base_url.endswith("/base"))
        note("user", [other.user is self, other.request_event is self.environment.events.request])
        silent = Environment()
        HttpSession(self.host, silent.events.request, None).get("/silent")
        self.environment.runner.quit()
