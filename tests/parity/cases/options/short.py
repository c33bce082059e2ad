"""The ways of writing a short option."""

from locust import User, events, task
from parity import note

NAMES = "locustfile host num_users spawn_rate run_time stop_timeout loglevel tags exclude_tags user_classes".split()  # noqa: SIM905


@events.init_command_line_parser.add_listener
def add_options(parser):
    parser.add_argument("-o", "--own")


@events.init.add_listener
def show(environment, **_):
    for name in (*NAMES, "own"):
        note(name, getattr(environment.parsed_options, name))


class One(User):
    @task
    def work(self):
        self.environment.runner.quit()


# option: bare
# run equals: -f=locustfile.py,probe.py --headless -H=http://127.0.0.1:1 -u=1 -r=3 -t=9 -s=2 -L=DEBUG -o=x
# run joined: -flocustfile.py,probe.py --headless -Hhttp://127.0.0.1:1 -u1 -r3 -t9s -s2 -LDEBUG -ox One
# run apart: -f locustfile.py,probe.py --headless -H http://127.0.0.1:1 -u 1 -r 3 -t 9 -s 2 -L DEBUG -o x One
# run again: -f missing.py -f=locustfile.py,probe.py --headless -u 3 -u=1 -H http://127.0.0.1:1
