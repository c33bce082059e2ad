"""--skip-log-setup: Python's own logging, which shows warnings."""

import logging

from locust import User, events, task


@events.init.add_listener
def log_something(environment, **_):
    logging.getLogger("mine").info("not shown")
    logging.getLogger("locust.mine").info("not shown either")
    logging.getLogger("mine").warning("shown")


class One(User):
    @task
    def work(self):
        self.environment.runner.quit()


# run skipped: --skip-log-setup --only-summary
# compare: log
