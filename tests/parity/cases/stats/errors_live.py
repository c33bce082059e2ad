"""A StatsError that was taken earlier, and an error that is logged without a request."""

from locust import User, task
from parity import note


class Logger(User):
    @task
    def log(self):
        stats, fire = self.environment.stats, self.environment.events.request.fire
        for number in range(3):
            fire(request_type="PROBE", name="queue", response_time=1, response_length=0, exception=ValueError("full"))
            if not number:
                (error,) = stats.errors.values()
        note("taken earlier", [error.occurrences, error is next(iter(stats.errors.values()))])
        stats.log_error("PROBE", "alone", "lost")
        entry = stats.get("alone", "PROBE")
        note("alone", [entry.num_requests, entry.num_failures])
        self.environment.runner.quit()
