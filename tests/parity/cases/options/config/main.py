"""locust.conf in the working directory, over which environment variables and the command line go."""

import gevent
from locust import User, events, tag, task
from parity import note


@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--own", default="default")


@events.init.add_listener
def show(environment, **_):
    options = environment.parsed_options
    note("options", [options.num_users, options.spawn_rate, options.run_time, options.tags, options.own])
    note("more", [options.headless, options.only_summary, options.host, options.exit_code_on_error])


class Configured(User):
    @tag("a", "x")
    @task
    def work(self):
        gevent.sleep(9)


# option: bare
# env: LOCUST_SPAWN_RATE=4
# run conf: -f locustfile.py,probe.py
# run over: -f locustfile.py,probe.py -u 1 --own line
# run file: -f locustfile.py,probe.py --config other.conf
