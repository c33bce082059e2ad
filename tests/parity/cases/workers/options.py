"""Options about the load with two workers: each has its effect in every process."""

from locust import User, constant, events, tag, task
from parity import note


class Waiting(User):
    abstract = True
    wait_time = constant(60)

    def on_start(self):
        note("start", type(self).__name__)

    def on_stop(self):
        note("stop", type(self).__name__)

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


@events.spawning_complete.add_listener
def complete(user_count):
    note("complete", user_count)


# option: unordered alone
# env: LOCUST_MASTER_BIND_PORT=15574 LOCUST_MASTER_NODE_PORT=15574
# run users: --processes 2 -u 8 -r 50 -t 2 -T work
# run weights: --processes 2 -u 8 -r 50 -t 2 -E other --equal-weights
# run config: --processes 2 -u 8 -r 50 -t 2 -T work --config-users '{"user_class_name": "Seldom", "fixed_count": 5}'
# run class: --processes 2 -u 3 -r 50 -t 2 -T work Seldom
# run stop-timeout: --processes 2 -u 8 -r 50 -t 2 -s 5 -T work
