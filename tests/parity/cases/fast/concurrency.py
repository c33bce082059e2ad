"""More greenlets of one user than `concurrency`: how many connections they have."""

import gevent
from locust import FastHttpUser, task
from parity import note


class Fast(FastHttpUser):
    concurrency = 2

    @task
    def all(self):
        for group in ([1, 2], [1, 2, 3, 4, 5, 6]):
            each = [gevent.spawn(self.client.get, f"/slow/200?of={len(group)}") for _ in group]
            gevent.joinall(each)
            times = [job.value.elapsed.total_seconds() for job in each if job.value.elapsed]
            note(f"all of {len(group)} answered within 0.39 s", len(times) == len(group) and max(times) < 0.39)
        self.environment.runner.quit()


# option: unordered
