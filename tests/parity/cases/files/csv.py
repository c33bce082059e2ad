"""The files of --csv: their columns, rows, quoting, failures and exceptions, once everything has been written."""

import time

from locust import HttpUser, task


class Writing(HttpUser):
    turn = 0

    @task
    def all(self):
        self.turn += 1
        if self.turn == 1:
            for path in ("/b", "/a", "/status/404", '/quoted"x', "/comma,x", "/a"):
                self.client.get(path)
            self.client.post("/a")
            with self.client.get("/failed", catch_response=True) as response:
                response.failure('line one\nline "two", and more')
            raise ValueError("in a task")
        if self.turn == 2:
            raise KeyError("another")
        time.sleep(2.5)
        self.environment.runner.quit()


# option: csv
# compare: files
# run plain:
# run full: --csv-full-history
