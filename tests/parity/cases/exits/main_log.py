"""The lines about a run as a whole that scripts look for, and fixed counts that no user is left for."""

from locust import User, constant, task


class Fixed(User):
    fixed_count = 3
    wait_time = constant(0.1)

    @task
    def work(self):
        pass


# compare: main-log
# run limited: -u 2 -r 9 -t 1
# run enough: -u 3 -r 9 -t 1
