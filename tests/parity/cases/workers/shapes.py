"""A shape that two workers follow, with options that it does not read: which of them have an effect, and until when."""

from locust import LoadTestShape, User, constant, events, tag, task
from locust.runners import MasterRunner, WorkerRunner
from parity import note


class Waiting(User):
    abstract = True
    wait_time = constant(60)

    def on_start(self):
        note("start", type(self).__name__)

    def on_stop(self):
        note("stop", [type(self).__name__, self.environment.parsed_options.run_time])

    @tag("work")
    @task
    def work(self):
        note("work")

    @tag("other")
    @task
    def other(self):
        note("other")


class Often(Waiting):
    weight = 3


class Seldom(Waiting):
    pass


@events.test_start.add_listener
def start(environment, **_):
    options = environment.parsed_options
    kind = [isinstance(environment.runner, each) for each in (MasterRunner, WorkerRunner)]
    note("options", [kind, options.num_users, options.run_time, options.stop_timeout, options.tags])


@events.spawning_complete.add_listener
def complete(user_count):
    note("complete", user_count)


class Steps(LoadTestShape):
    noted = ()

    def tick(self):
        users = 4 if self.get_run_time() < 1.5 else 8 if self.get_run_time() < 3.5 else None
        if users is None:
            note("end", self.get_current_user_count())
            return None
        if users not in self.noted:
            self.noted = (*self.noted, users)
            note("users", users)
        return users, 50


# option: unordered alone
# env: LOCUST_MASTER_BIND_PORT=15573 LOCUST_MASTER_NODE_PORT=15573
# run one: -t 1 -T work
# run two: --processes 2 -T work
# run run-time: --processes 2 -t 1 -T work
# run all: --processes 2 -u 3 -r 1 -t 1 -s 5 -E other
