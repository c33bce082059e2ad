"""The smallest locustfile: one task, a few requests, the end by `runner.quit()`."""

from locust import HttpUser, task


class Simple(HttpUser):
    count = 0

    @task
    def get(self):
        self.client.get("/simple")
        self.count += 1
        if self.count == 3:
            self.environment.runner.quit()
