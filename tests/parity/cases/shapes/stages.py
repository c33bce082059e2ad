"""A LoadTestShape with stages: ticks of two and of three, run time and counts, and the end by None."""

from locust import LoadTestShape, User, between, events, task
from parity import note


class Counted(User):
    abstract = True
    wait_time = between(9, 9)

    def on_start(self):
        note("start", type(self).__name__)

    def on_stop(self):
        note("stop", type(self).__name__)

    @task
    def work(self):
        pass


class One(Counted):
    pass


class Two(Counted):
    pass


@events.spawning_complete.add_listener
def complete(user_count):
    note("complete", user_count)


class Stages(LoadTestShape):
    stages = ((1, 2, 2, None), (2, 4, 4, [Two]), (3, 1, 10, None))
    noted = ()

    def tick(self):
        run_time = self.get_run_time()
        for until, users, rate, classes in self.stages:
            if run_time < until:
                if self.noted != (until,):
                    self.noted = (until,)
                    note("stage", [until, self.runner is not None])
                return (users, rate) if classes is None else (users, rate, classes)
        note("end", [round(run_time), self.get_current_user_count()])
        return None


# option: unordered
