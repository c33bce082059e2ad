"""Every kind of failure has its own outcome, and the run continues.

Each user sends a request that fails in a given way, then a good one, for all ways in turn. The number of good requests
must equal the number of failing ones, and each way must have only its own outcome. A request whose kept connection
closed without a response is sent again on a new one, and is reported as a retry.
"""

import socket
from collections.abc import Iterator

from ..lab import Lab, Load
from ..line import Line, exact
from ..plimsoll_run import LOCUSTFILES
from .case import Case
from .counts import UNSENT, sent

USERS = 4
GOOD = "/fixed?ms=0"
WAYS = {
    "/never": "timeout",
    "/status?code=503": "http",
    "/reset?at=before": "reset",
    "/reset?at=head": "reset",
    "/reset?at=body": "reset",
    "/malformed?kind=not-http": "protocol",
    "/endless-header": "protocol",
    "/wrong-length?by=10": "reset",
    "/fixed?ms=0&judged": "assertion",
    "/connect": "connect",
    "/tls": "tls",
}


def check(lab: Lab) -> Iterator[Case]:
    yield Case("failures", lambda: judge(lab))


def judge(lab: Lab) -> Iterator[Line]:
    arguments = ["-f", str(LOCUSTFILES / "mixed.py"), "-H", lab.target.url, "-u", str(USERS), "-r", str(USERS)]
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound but not listening: no other process can use the port
        environment = (
            ("TRUTH_CLOSED_URL", f"http://127.0.0.1:{closed.getsockname()[1]}"),
            ("TRUTH_TLS_URL", f"https://127.0.0.1:{lab.target.port}"),
        )
        observation = lab.observe(Load(arguments, lab.seconds(8, 3), environment=environment, may_be_invalid=True))
    report, truth = observation.report, observation.truth
    failed = 0
    for target, outcome in WAYS.items():
        endpoint = report.endpoint(target)
        failed += endpoint.requests
        name = f"failures {target}"
        if outcome not in UNSENT:
            yield exact(name, "requests", truth.path(target).received, sent(endpoint) + endpoint.retries)
        yield exact(name, "outcomes", {outcome: endpoint.requests}, endpoint.outcomes())
    good = report.endpoint(GOOD)
    yield exact("failures, the run goes on", "good requests", failed, good.count("success"))
    yield exact("failures, the run goes on", "requests", truth.path(GOOD).received, good.requests)
