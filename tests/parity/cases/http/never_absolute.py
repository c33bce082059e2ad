"""An empty host and no absolute URL: every task fails, and the exit code says so."""

from locust import HttpUser, task


class Homeless(HttpUser):
    host = ""

    def wait_time(self):
        self.environment.runner.quit()
        return 1

    @task
    def get(self):
        self.client.get("/path")


# option: bare
# run: -f locustfile.py,probe.py --headless
