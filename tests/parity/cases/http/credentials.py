"""Credentials in the host become basic auth, and are not sent in the URL."""

import os
from urllib.parse import urlsplit

from locust import HttpUser, task
from parity import note


class Secret(HttpUser):
    host = os.environ["PARITY_TARGET"].replace("http://", "http://us%40er:p%3Aw@")

    @task
    def get(self):
        note("base", urlsplit(self.client.base_url).hostname)
        note("auth", [self.client.auth.username, self.client.auth.password])
        self.client.get("/guarded/x")
        self.client.get("/other", auth=("a", "b"))
        self.environment.runner.quit()


# option: bare
# run: -f locustfile.py,probe.py --headless
