"""environment.stats at quitting and while the test runs: entries, totals, percentiles, errors, all of known times."""

from locust import User, events, task
from parity import note

TIMES = (1, 2, 3, 3, 12, 55, 99, 123, 987, 1234, 5555, 12345)


def show(what, entry):
    note(what, [entry.num_requests, entry.num_none_requests, entry.num_failures, entry.name, entry.method])
    note(f"{what} times", [entry.min_response_time, entry.max_response_time, entry.total_response_time])
    note(f"{what} averages", [entry.avg_response_time, entry.median_response_time, entry.avg_content_length])
    note(f"{what} lengths", [entry.total_content_length, entry.fail_ratio])
    shares = (0.0, 0.25, 0.5, 0.66, 0.9, 0.95, 0.99, 0.999, 1.0)
    note(f"{what} percentiles", [entry.get_response_time_percentile(share) for share in shares])
    note(f"{what} histogram", dict(sorted(entry.response_times.items())))
    note(f"{what} per second", sum(entry.num_reqs_per_sec.values()))
    note(f"{what} failures per second", sum(entry.num_fail_per_sec.values()))


class Custom(User):
    @task
    def all(self):
        fire = self.environment.events.request.fire
        for each in TIMES:
            fire(request_type="own", name="times", response_time=each, response_length=10, exception=None)
        fire(request_type="own", name="untimed", response_time=None, response_length=1, exception=None)
        fire(request_type="own", name="failed", response_time=5.6, response_length=0, exception=ValueError("no"))
        fire(request_type="own", name="failed", response_time=7.7, response_length=0, exception=ValueError("no"))
        stats = self.environment.runner.stats
        note("while running", [stats.total.num_requests, stats.num_requests, stats.num_failures])
        show("get", stats.get("times", "own"))
        show("missing", stats.get("missing", "own"))
        self.environment.runner.quit()


@events.quitting.add_listener
def quitting(environment, **_):
    stats = environment.stats
    note("keys", sorted(list(key) for key in stats.entries))
    for key in sorted(stats.entries):
        show(f"entry {key[0]}", stats.entries[key])
    show("total", stats.total)
    for error in stats.errors.values():
        note("error", [error.method, error.name, str(error.error), error.occurrences, error.to_name()])
        note("error dict", {key: value for key, value in error.to_dict().items() if "seen" not in key})
    note("runner", [environment.runner.errors is stats.errors, environment.runner.stats is stats])
