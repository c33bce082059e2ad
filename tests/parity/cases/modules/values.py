"""Values and small functions that locustfiles use from modules."""

import locust
import locust.runners
import locust.stats
from locust import User, task
from locust.util.timespan import parse_timespan
from parity import note

note("version", locust.__version__)
note("all", sorted(locust.__all__))
note("states", sorted(getattr(locust.runners, name) for name in dir(locust.runners) if name.startswith("STATE_")))
for name in dir(locust.runners):
    if name.endswith(("_INTERVAL", "_TIMEOUT", "_COUNT", "_LIVENESS", "_INTERNAL", "_THRESHOLD")):
        note(name, getattr(locust.runners, name))
for name in ("PERCENTILES_TO_REPORT", "PERCENTILES_TO_STATISTICS", "PERCENTILES_TO_CHART", "STATS_TYPE_WIDTH"):
    note(name, getattr(locust.stats, name))
for name in ("CONSOLE_STATS_INTERVAL_SEC", "HISTORY_STATS_INTERVAL_SEC", "CSV_STATS_INTERVAL_SEC"):
    note(name, getattr(locust.stats, name))
note("timespan", [parse_timespan(text) for text in ("20", "20s", "3m", "1h30m", "1h5m3s")])
for wrong in ("", "soon", "3x"):
    try:
        parse_timespan(wrong)
    except Exception as error:
        note("wrong timespan", error)
for old in (locust.HttpLocust, locust.Locust):
    try:
        type("Old", (old,), {})
    except Exception as error:
        note("old", error)
for error in ("StopUser", "RescheduleTask", "InterruptTaskSet", "ResponseError", "CatchResponseError", "StopTest"):
    note(error, [each.__name__ for each in getattr(locust.exception, error).__mro__])


class Nothing(User):
    @task
    def end(self):
        self.environment.runner.quit()
