"""Run one class of a locustfile in this process, without a coordinator: what is counted is the path of its requests.

`python -m benches.python_users FILE CLASS URL USERS SECONDS` prints the number of requests as JSON.
"""

# ruff: noqa: E402 - as in a worker, before everything that uses sockets
from gevent import monkey

monkey.patch_all()

import gc
import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import gevent
from gevent.pool import Group

from plimsoll._engine import Engine, Recorder, now
from plimsoll.locust import install
from plimsoll.users.events import Events
from plimsoll.users.hub import Hub
from plimsoll.users.recording import RequestRecorder
from plimsoll.users.user import make_user


class Environment:
    """What users need of Locust's Environment."""

    catch_exceptions = False
    stop_timeout = 0.0
    runner = None

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.events = Events()


def run(file: Path, name: str, url: str, users: int, seconds: float) -> int:
    """The number of requests that so many users of this class sent in this time."""
    install()
    spec = spec_from_file_location("locustfile", file)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    cls = getattr(module, name)
    cls.host = url
    hub, recorder, group = Hub(Engine()), Recorder(now()), Group()
    hub.start()
    environment = Environment(hub)
    environment.events.request.add_listener(RequestRecorder(recorder))
    gc.freeze()
    for _ in range(users):
        make_user(cls, environment).start(group)
    gevent.sleep(seconds)
    group.kill()
    requests, failures = recorder.total()[:2]
    if failures > users:  # those under way at the end
        raise SystemExit(f"{failures} of {requests} requests failed")
    return requests


if __name__ == "__main__":
    file, name, url, users, seconds = sys.argv[1:]
    print(json.dumps({"requests": run(Path(file), name, url, int(users), float(seconds))}))
