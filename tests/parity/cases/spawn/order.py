"""Which class the next user is of: weights, fixed counts, names; and what the runner knows of them afterwards."""

from locust import User, between, events, task
from parity import note


class Counted(User):
    abstract = True
    wait_time = between(5, 5)

    def __init__(self, environment):
        super().__init__(environment)
        note("spawned", type(self).__name__)

    @task
    def work(self):
        pass


class Apple(Counted):
    weight = 3


class Berry(Counted):
    pass


class Cherry(Counted):
    weight = 2


class Fixed(Counted):
    fixed_count = 2


class Never(Counted):
    weight = 0


@events.init.add_listener
def init(environment, **_):
    @environment.events.spawning_complete.add_listener
    def complete(user_count):
        runner = environment.runner
        note("complete", [user_count, runner.user_count, dict(sorted(runner.user_classes_count.items()))])
        note("target", [runner.target_user_count, dict(sorted(runner.target_user_classes_count.items()))])
        note("state", runner.state)


# run weights: Apple Berry Cherry -u 9 -r 9 -t 1
# run equal: Apple Berry Cherry --equal-weights -u 9 -r 9 -t 1
# run fixed: Apple Fixed -u 6 -r 6 -t 1
# run too-few: Apple Fixed -u 1 -t 1
# run rate: Apple Berry -u 5 -r 2.5 -t 3
# run slow: Apple -u 2 -r 0.6 -t 4
# run zero: Apple Never -u 3 -r 3 -t 1
# run config: Apple Berry -u 4 -r 4 -t 1 --config-users '{"user_class_name": "Berry", "fixed_count": 3}'
