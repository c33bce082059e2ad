"""Users that use 5 ms of the generator's CPU before every request."""

import json
import os
import time
from pathlib import Path

from locust import HttpUser, events, task

TARGET = os.environ["TRUTH_TARGET"]
BURN_SECONDS = 0.005
burnt = {"count": 0, "seconds": 0.0}


class Busy(HttpUser):
    def on_start(self) -> None:
        self.client.get("/fixed?ms=0", name="connect")

    @task
    def burn_and_get(self) -> None:
        began = time.perf_counter()
        used = time.thread_time() + BURN_SECONDS
        while time.thread_time() < used:
            pass
        burnt["seconds"] += time.perf_counter() - began
        burnt["count"] += 1
        self.client.get(TARGET)


@events.test_stop.add_listener
def tell(**_: object) -> None:
    Path(os.environ["TRUTH_BURNT"]).write_text(json.dumps(burnt))
