"""The smallest locustfile: one GET, no wait, no check. What remains is the tool's own cost."""

import os

from locust import FastHttpUser, HttpUser, task

PATH = os.environ["BENCH_PATH"]


class TrivialHttp(HttpUser):
    @task
    def get(self):
        self.client.get(PATH)


class TrivialFast(FastHttpUser):
    @task
    def get(self):
        self.client.get(PATH)
