"""--list, --show-task-ratio and its JSON, --version."""

from locust import TaskSet, User, constant, task


class Base(User):
    abstract = True
    wait_time = constant(1)


class Heavy(Base):
    weight = 3

    @task(2)
    def often(self):
        pass

    @task
    class Nested(TaskSet):
        @task
        def inner(self):
            pass

        @task(3)
        def outer(self):
            pass


class Light(Base):
    @task
    def rare(self):
        pass


# option: bare
# compare: stdout
# run list: -f locustfile.py --list
# run list-class: -f locustfile.py --list Light
# run ratio: -f locustfile.py --show-task-ratio
# run ratio-json: -f locustfile.py --show-task-ratio-json
# run ratio-users: -f locustfile.py --show-task-ratio-json -u 10
# run ratio-class: -f locustfile.py --show-task-ratio-json Light
