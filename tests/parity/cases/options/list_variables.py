"""Options that take a list, as variables with brackets."""

from locust import User, events, task
from parity import note


@events.init_command_line_parser.add_listener
def add_options(parser):
    parser.add_argument("--own", nargs="*", env_var="OWN", default=["z"])
    parser.add_argument("--more", action="append", env_var="MORE")
    parser.add_argument("--one", env_var="ONE")


@events.init.add_listener
def show(environment, **_):
    options = environment.parsed_options
    for name in ("tags", "exclude_tags", "config_users", "own", "more", "one", "user_classes"):
        note(name, getattr(options, name) or None)
    # All tasks take part, whatever the tags are.
    options.tags = options.exclude_tags = None


class One(User):
    @task
    def work(self):
        self.environment.runner.quit()


class Two(One):
    pass


# env: LOCUST_TAGS="[x, y z]" LOCUST_EXCLUDE_TAGS="[a,b]" OWN="[p, q r]" MORE="[s,t]" ONE="[u]"
# run plain:
# run over: -T t --own u --more v One
