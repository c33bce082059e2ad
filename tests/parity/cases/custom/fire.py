"""A client of one's own reports by `events.request.fire`; its times are known, so every column is compared."""

import time

from locust import User, events, task
from parity import note

TIMES = (1, 2.4, 3.5, 12.5, 55, 99.4, 123, 987, 1234, 5555, 12345)


class Custom(User):
    @task
    def all(self):
        for each in TIMES:
            events.request.fire(
                request_type="own",
                name="times",
                response_time=each,
                response_length=10,
                exception=None,
                context={"each": each},
            )
        fire = self.environment.events.request.fire
        fire(request_type="own", name="untimed", response_time=None, response_length=0)
        fire(request_type="own", name="failed", response_time=5, response_length=0, exception=ValueError("no"))
        fire(request_type="own", name="text", response_time=5, response_length=0, exception="only text")
        fire(request_type="own", name="text", response_time=7, response_length=0, exception="only text")
        fire(request_type="own", name="more", response_time=5, response_length=3, response="r", extra=[1], url="u:")
        fire(request_type="", name="", response_time=1, response_length=1)
        fire(request_type="own", name='quoted "name", comma', response_time=1, response_length=1)
        try:
            fire(request_type="own", name="missing")
        except Exception as error:
            note("missing", error)
        time.sleep(2.2)
        self.environment.runner.quit()


# option: csv times
