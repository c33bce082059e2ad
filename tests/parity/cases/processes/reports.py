"""What workers report, with data of one's own added, and what the main node makes of it."""

from locust import HttpUser, constant, events, runners, task
from locust.runners import MasterRunner
from parity import note

runners.WORKER_REPORT_INTERVAL = 1
total = []


@events.report_to_master.add_listener
def report(client_id, data, **_):
    data["own"] = 1


@events.worker_report.add_listener
def reported(client_id, data, **_):
    total.append(data["own"])


@events.test_stop.add_listener
def stop(environment, **_):
    if isinstance(environment.runner, MasterRunner):
        note("reported", sum(total) > 1)


@events.quitting.add_listener
def quitting(environment, **_):
    if isinstance(environment.runner, MasterRunner):
        note("total", [environment.stats.total.num_requests, environment.stats.total.num_failures])
        environment.process_exit_code = 3 if environment.stats.total.fail_ratio > 0 else 0


class Working(HttpUser):
    wait_time = constant(60)

    @task
    def work(self):
        self.client.get("/work")
        self.client.get("/status/500")


# option: unordered alone
# env: LOCUST_MASTER_BIND_PORT=15572 LOCUST_MASTER_NODE_PORT=15572
# run: --processes 2 -u 3 -r 3 -t 4
