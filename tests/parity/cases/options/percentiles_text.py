"""Percentiles of charts and statistics that a locustfile assigns: wrong ones are refused."""

import os

from locust import User, stats, task

if values := os.getenv("CHART"):
    stats.PERCENTILES_TO_CHART = eval(values)
if values := os.getenv("STATISTICS"):
    stats.PERCENTILES_TO_STATISTICS = eval(values)


class One(User):
    @task
    def work(self):
        self.environment.runner.quit()


# env: "CHART=['p95']"
