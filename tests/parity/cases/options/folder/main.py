"""Several locustfiles and folders of them."""

from locust import User, events, task
from parity import note


@events.init.add_listener
def show(environment, **_):
    note("classes", sorted(each.__name__ for each in environment.user_classes))


class Main(User):
    @task
    def work(self):
        self.environment.runner.quit()


# option: bare
# run folder: -f probe.py,tests --headless First
# run several: -f locustfile.py,tests/first.py,probe.py --headless -u 1 Main
# run default: --headless -t 1 -u 1
