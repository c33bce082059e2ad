"""Users that repeat one path, which the environment sets."""

import os

from locust import FastHttpUser, HttpUser, task

TARGET = os.environ["TRUTH_TARGET"]
TIMEOUT = float(os.environ.get("TRUTH_TIMEOUT", "0")) or None


class Plain(HttpUser):
    @task
    def get(self) -> None:
        self.client.get(TARGET, timeout=TIMEOUT)


class Fast(FastHttpUser):
    network_timeout = TIMEOUT or 60.0

    @task
    def get(self) -> None:
        self.client.get(TARGET)
