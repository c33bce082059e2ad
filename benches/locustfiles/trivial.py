"""The least a locustfile can do: one GET, no wait, nothing looked at. What is left is the tool's own cost."""

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
