"""Requests that the target never answers: none of them is lost, in any model and protocol.

The target has received each of them. All are unanswered, and all are failures: each has waited for at least PATIENCE,
and no response shows that this is usual. The median is at least PATIENCE, exactly: it is a lower bound.

A target that answers late, but within the time for which the open model waits, has answered everything.
"""

from collections.abc import Iterator
from functools import partial

from ..grpc_target import SERVICE, GrpcTarget
from ..http2_target import Http2Target
from ..lab import Lab, Load
from ..line import Line, exact, fact
from ..plimsoll_run import LOCUSTFILES, Report
from .case import Case

USERS = 5
PATIENCE = 2.0
"""Seconds: how long the open model waits, and how long users of the closed model wait before they are stopped."""
START = 3.0
"""Seconds that users of the closed model may take to begin, on a machine that is busy."""
OPEN = Load(["--rate", "10/s"], 1.0, finish=PATIENCE, may_be_invalid=True)
CLOSED = Load(["-u", str(USERS), "-r", str(USERS)], PATIENCE + START, finish=0.0, may_be_invalid=True)
MODELS = {"open model": OPEN, "closed model": CLOSED}
FOR_EVER = "/fixed?ms=3600000"
LATE = "/fixed?ms=1500"


def check(lab: Lab) -> Iterator[Case]:
    for name, load in MODELS.items():
        for users in ("native", "Plain", "Fast"):
            yield Case(f"unanswered, {name}, HTTP/1.1, {users}", partial(http1, lab, name, load, users))
        yield Case(f"unanswered, {name}, HTTP/2", partial(http2, lab, name, load))
        yield Case(f"unanswered, {name}, gRPC", partial(grpc, lab, name, load))
        yield Case(f"unanswered, {name}, WebSocket", partial(socket, lab, name, load))
    yield Case("unanswered, answered late", partial(late, lab))


def http1(lab: Lab, model: str, load: Load, users: str) -> Iterator[Line]:
    arguments, environment = [lab.url("/never")], ()
    if users != "native":
        arguments = ["-f", str(LOCUSTFILES / "get.py"), users, "-H", lab.target.url]
        environment = (("TRUTH_TARGET", "/never"),)
    observation = lab.observe(_of(load, arguments, environment))
    truth = observation.truth.path("/never").received
    yield from judged(f"unanswered, {model}, HTTP/1.1, {users}", truth, observation.report)


def http2(lab: Lab, model: str, load: Load) -> Iterator[Line]:
    target = Http2Target()
    try:
        report = lab.observe(_of(load, [f"http://{target.place}{FOR_EVER}", "--http2"])).report
    finally:
        target.close()
    yield from judged(f"unanswered, {model}, HTTP/2", target.requests.total(), report)


def grpc(lab: Lab, model: str, load: Load) -> Iterator[Line]:
    proto = LOCUSTFILES / "truth.proto"
    target = GrpcTarget()
    try:
        plan = lab.folder / "never.toml"
        step = f'[[request]]\ngrpc = "{SERVICE}/Never"\nmessage.text = "x"\n'
        plan.write_text(f'target = "grpc://{target.place}"\nproto = "{proto}"\n{step}')
        report = lab.observe(_of(load, [str(plan)])).report
    finally:
        target.close()
    yield from judged(f"unanswered, {model}, gRPC", target.received("Never"), report)


def socket(lab: Lab, model: str, load: Load) -> Iterator[Line]:
    """The connection is answered, the message is not."""
    path = "/ws?ms=3600000"
    url = lab.url(path).replace("http://", "ws://", 1)
    observation = lab.observe(_of(load, [url, "--message", "x"]))
    opened, received = (observation.truth.path(each).received for each in (path, "/ws/message?ms=3600000"))
    case = f"unanswered, {model}, WebSocket"
    yield exact(case, "connections", {"success": opened}, observation.report.row("WS", path).outcomes())
    yield from judged(case, received, observation.report, "WS receive", opened)


def late(lab: Lab) -> Iterator[Line]:
    """Everything comes after the load, and within the waiting."""
    case = "unanswered, answered late"
    load = Load([lab.url(LATE), "--rate", "10/s"], 1.0, finish=30.0, may_be_invalid=True)
    observation = lab.observe(load)
    report, truth = observation.report, observation.truth.path(LATE).received
    yield exact(case, "requests", {"success": truth}, report.total.outcomes())
    yield exact(case, "offered", truth, report.generator["offered"])
    yield exact(case, "exit code", 0, report.exit_code)


def judged(case: str, truth: int, report: Report, method: str = "", answered: int = 0) -> Iterator[Line]:
    """truth: requests that the target has received, and never answered. method: of their row. answered: others."""
    total = report.total
    yield exact(case, "requests", truth, total.unanswered)
    yield exact(case, "failures", truth, total.failures)
    yield exact(case, "answered", answered, total.requests)
    if offered := report.generator["offered"]:
        yield exact(case, "offered", max(truth, answered), offered)
    row = next(each for each in report.document["endpoints"] if not method or each["method"] == method)
    times = row["response_ms"]
    median = times["percentiles"]["50"]
    holds = median >= PATIENCE * 1000 and "50" in times["at_least"]
    yield fact(case, "response p50", f"≥ {PATIENCE * 1000:,.0f} ms", f"≥ {median:,.0f} ms", "a lower bound", holds)
    yield exact(case, "exit code", 1, report.exit_code)


def _of(load: Load, arguments: list[str], environment: tuple[tuple[str, str], ...] = ()) -> Load:
    """The same load of this."""
    return Load([*arguments, *load.arguments], load.seconds, load.finish, environment=environment, may_be_invalid=True)
