"""Options that take a list: as variables, in a configuration file, and on the command line."""

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


# run plain:
# run again: -T a b -E d -T c --tags e f -E=g One
# run attached: -Ta -E=b One
# run long: --tags=a --own=b --more=c --more d One
# run brackets: --config brackets.conf
# run json: --config json.conf
# run one: --config one.conf
# run empty: --config empty.conf
