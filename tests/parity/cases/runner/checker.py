"""The usual greenlet that stops the test at too many failures, and decides on the exit code."""

import gevent
from locust import HttpUser, constant, events, task
from locust.runners import STATE_CLEANUP, STATE_STOPPED, STATE_STOPPING, MasterRunner, WorkerRunner
from parity import note


def checker(environment):
    while environment.runner.state not in (STATE_STOPPING, STATE_STOPPED, STATE_CLEANUP):
        gevent.sleep(0.1)
        if environment.runner.stats.total.fail_ratio > 0.2:
            note("ratio", environment.runner.stats.total.fail_ratio)
            environment.runner.quit()
            return


@events.init.add_listener
def init(environment, **_):
    note("runner", [type(environment.runner).__name__, isinstance(environment.runner, (MasterRunner, WorkerRunner))])
    gevent.spawn(checker, environment)


@events.quitting.add_listener
def quitting(environment, **_):
    total = environment.stats.total
    if total.fail_ratio > 0.01:
        environment.process_exit_code = 7
    elif total.avg_response_time > 60_000 or total.get_response_time_percentile(0.95) > 60_000:
        environment.process_exit_code = 8
    note("code", environment.process_exit_code)


class Failing(HttpUser):
    wait_time = constant(60)

    @task
    def work(self):
        self.client.get("/get")
        self.client.get("/status/500")
