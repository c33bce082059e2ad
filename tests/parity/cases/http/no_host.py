"""Without a host an HttpUser cannot work."""

from locust import HttpUser, task


class Homeless(HttpUser):
    @task
    def get(self):
        self.client.get("/")


# option: bare
# compare: log
# run: -f locustfile.py,probe.py --headless -t 1
