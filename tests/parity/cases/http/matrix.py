"""HttpUser: every keyword with every verb; targets, header lines and bodies on the wire."""

from locust import HttpUser, task
from matrix import KEYWORDS, Calls


class Caller(Calls, HttpUser):
    @task
    def all(self):
        self.call_all(KEYWORDS)
        self.environment.runner.quit()


# option: bare
# run: -f locustfile.py --headless -H {target} -u 1
