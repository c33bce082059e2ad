"""A shape may read the common options; without use_common_options they are told to be ignored."""

from locust import LoadTestShape, User, between, task
from parity import note


class Waiting(User):
    wait_time = between(9, 9)

    @task
    def work(self):
        note("work")


class Base(LoadTestShape):
    abstract = True
    use_common_options = True


class Common(Base):
    def tick(self):
        options = self.runner.environment.parsed_options
        if self.get_run_time() > 1:
            return None
        return options.num_users, options.spawn_rate


# compare: log
# run common: -u 2 -r 2
# run none: -u 2 -r 2 -t 9
