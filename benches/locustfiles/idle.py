"""Users that only wait, before or after their first request. The last one creates the file BENCH_READY."""

import os
from pathlib import Path

from locust import HttpUser, constant, task

EXPECTED = int(os.environ["BENCH_USERS"])
READY = Path(os.environ["BENCH_READY"])
waiting = 0


def count_one():
    global waiting
    waiting += 1
    if waiting == EXPECTED:
        READY.touch()


class IdleNew(HttpUser):
    wait_time = constant(3600)

    @task
    def nothing(self):
        count_one()


class IdleConnected(HttpUser):
    wait_time = constant(3600)

    @task
    def one_request(self):
        self.client.get("/small")
        count_one()
