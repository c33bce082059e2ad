"""FastHttpUser: every keyword with every verb; targets, header lines and bodies on the wire."""

from locust import FastHttpUser, task
from matrix import KEYWORDS, Calls

OWN = {
    "headers-chunked": lambda: {"headers": {"Transfer-Encoding": "chunked"}, "data": b"ab"},
    "chunked-text": lambda: {"headers": {"Transfer-Encoding": "chunked"}, "data": "ab"},
    "retries": lambda: {"max_retries": 1, "max_redirects": 1},
    "payload": lambda: {"payload": "text"},
}


class Caller(Calls, FastHttpUser):
    @task
    def all(self):
        self.call_all(KEYWORDS | OWN)
        self.environment.runner.quit()


# option: bare
# run: -f locustfile.py --headless -H {target} -u 1
