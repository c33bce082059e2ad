"""Users that send one request every BENCH_WAIT seconds: many users at a modest rate."""

import os

from locust import FastHttpUser, HttpUser, constant, task

WAIT = float(os.environ["BENCH_WAIT"])


class PacedHttp(HttpUser):
    wait_time = constant(WAIT)

    @task
    def get(self):
        self.client.get("/small")


class PacedFast(FastHttpUser):
    wait_time = constant(WAIT)

    @task
    def get(self):
        self.client.get("/small")
