"""An empty host and no absolute URL: every request fails, and the exit code says so."""

from locust import FastHttpUser, task


class Homeless(FastHttpUser):
    host = ""

    def wait_time(self):
        self.environment.runner.quit()
        return 1

    @task
    def get(self):
        self.client.get("/path")


# option: bare
# run: -f locustfile.py,probe.py --headless
