"""What a user and a task set have beside their tasks."""

from locust import HttpUser, TaskSet, User, constant, task
from parity import note


class Plain(User):
    weight = 2
    fixed_count = 0

    def context(self):
        return {"who": "plain"}

    @task
    def work(self):
        note("plain client", type(self.client).__name__ if hasattr(self, "client") else None)


class Known(HttpUser):
    def context(self):
        return {"user": "known"}

    @task
    class Inner(TaskSet):
        @task
        def look(self):
            note("set", [self.user is self.parent, self.client is self.user.client, type(self.user).__name__])
            note("group", len(self.user.group))
            note("greenlet", type(self.user.greenlet).__name__)
            note("context", self.user.context())
            self.client.get("/context")
            self.client.get("/context", context={"own": 1})
            note("host", [self.user.host is not None, self.user.abstract, self.user.weight, self.user.fixed_count])
            note("client", [type(self.client).__name__, self.client.base_url == self.user.host])
            note("client is", [each.__name__ for each in type(self.client).__mro__])
            note("trust_env", self.client.trust_env)
            self.user.environment.runner.quit()


note("fullname", [Plain.fullname(), Known.fullname()])
note("json", [Plain.json(), Known.json()])
note("defaults", [User.weight, User.fixed_count, User.abstract, User.host, User.tasks, type(User.wait_time).__name__])
note("mro", [each.__name__ for each in HttpUser.__mro__])
note("wait", constant(1)(None))
# run: Known
