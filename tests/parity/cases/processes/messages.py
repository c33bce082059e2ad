"""Two workers: what the main node and the workers are, custom messages both ways, and their events."""

import gevent
from locust import HttpUser, constant, events, task
from locust.runners import LocalRunner, MasterRunner, WorkerRunner
from parity import note

received = []


def from_main(environment, msg, **_):
    note("from main", [msg.type, msg.data])
    environment.runner.send_message("answer", {"index": environment.runner.worker_index, "got": msg.data})


def from_worker(environment, msg, **_):
    received.append(msg.data["index"])
    note("from a worker", [msg.type, msg.data["got"]])


@events.init.add_listener
def init(environment, runner, **_):
    note("runner", [isinstance(runner, kind) for kind in (MasterRunner, WorkerRunner, LocalRunner)])
    if isinstance(runner, MasterRunner):
        runner.register_message("answer", from_worker)
    if isinstance(runner, WorkerRunner):
        runner.register_message("question", from_main)


@events.test_start.add_listener
def start(environment, **_):
    if isinstance(environment.runner, MasterRunner):
        note("workers", [environment.runner.worker_count, len(environment.runner.clients)])
        environment.runner.send_message("question", "how are you?")


@events.quitting.add_listener
def quitting(environment, **_):
    if isinstance(environment.runner, MasterRunner):
        note("received", sorted(received))


class Working(HttpUser):
    wait_time = constant(60)

    @task
    def work(self):
        self.client.get("/work")
        if self.environment.runner.worker_index == 0:
            self.client.get("/status/500")
            gevent.sleep(1)


# option: unordered alone
# env: LOCUST_MASTER_BIND_PORT=15571 LOCUST_MASTER_NODE_PORT=15571
# run: --processes 2 -u 2 -r 2 -t 4
