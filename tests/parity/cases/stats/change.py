"""Statistics that the locustfile changes: log_request, log_error, reset_all, clear_all, and constants."""

import locust.stats
from locust import HttpUser, task
from locust.stats import RequestStats, StatsEntry, stats_printer
from parity import note

locust.stats.CONSOLE_STATS_INTERVAL_SEC = 1
locust.stats.PERCENTILES_TO_REPORT = [0.5, 0.9, 0.999]
locust.stats.CSV_STATS_INTERVAL_SEC = 1


class Changing(HttpUser):
    @task
    def all(self):
        stats = self.environment.stats
        self.client.get("/before")
        note("before", stats.total.num_requests)
        stats.reset_all()
        note("reset", [stats.total.num_requests, len(stats.entries)])
        self.client.get("/between")
        stats.clear_all()
        note("cleared", [stats.total.num_requests, len(stats.entries)])
        self.client.get("/after")
        stats.log_request("own", "logged", 12, 34)
        stats.log_error("own", "logged", "no good")
        note("logged", [stats.total.num_requests, stats.total.num_failures])
        own = RequestStats()
        own.log_request("GET", "/own", 5, 6)
        note("own", [own.total.num_requests, own.get("/own", "GET").avg_response_time])
        entry = StatsEntry(own, "alone", "GET")
        entry.log(10, 20)
        entry.extend(own.get("/own", "GET"))
        note("entry", [entry.num_requests, entry.total_response_time, entry.total_content_length])
        note("printer", callable(stats_printer(stats)))
        self.environment.runner.quit()
