"""gRPC: counts are exact, whatever becomes of a call or its connection, and times are those of the target's schedule.

The target is `grpc_target.py`, in Python with the library h2. It counts the calls that it has received completely, with
the bytes of their messages. Statuses, RST_STREAM in place of an answer and in the middle of one, GOAWAY on kept
connections, and a target that takes long messages slowly: the counts must be equal, by outcome. Calls that GOAWAY left
behind are sent again, and are one call for both.

A call whose connection is aborted, and one that is cut off at the end of a run, may or may not have been received: at
most one for each user.

A call of `Fixed` is answered DELAY after it has arrived, never earlier. Its bounds are those of the check of HTTP/2.
"""

from collections.abc import Iterator
from functools import partial
from statistics import median

from ..grpc_target import DELAY, REPLIES, SERVICE, GrpcTarget
from ..lab import Lab, Load
from ..line import Line, exact, fact, milliseconds, within
from ..plimsoll_run import LOCUSTFILES, Report
from ..tolerance import HDR_ERROR, UNIT, Bounds
from .case import Case

USERS = 10
PROTO = LOCUSTFILES / "truth.proto"
LONG = 150_000
"""Characters of a message to `Slow`: more than the target takes at once."""
AROUND = 9
"""Bytes before its text: the prefix of the message, the number of the field, and the length."""
OUTCOMES = {
    "Fixed": "success", "Many": "success", "Slow": "success", "Leave": "success", "Fail": "http", "Reset": "reset",
    "Half": "reset",
}  # fmt: skip
BY_PYTHON = ("Fixed", "Many", "Fail")
KILLED_AFTER = 60
CUT_OFF = 0.3
"""Seconds until Ctrl-C."""


def check(lab: Lab) -> Iterator[Case]:
    users = ["-u", str(USERS), "-r", str(USERS)]
    for name, load in (
        ("grpc, every ending", users),
        ("grpc, every ending, five users per connection", [*users, "--users-per-connection", "5"]),
    ):
        yield Case(name, partial(endings, lab, name, load))
    yield Case("grpc, Python users", partial(python_users, lab, users))
    yield Case("grpc, open model", partial(times, lab))
    for name, load, killed in (
        ("grpc, connections aborted", Load(users, 2), KILLED_AFTER),
        ("grpc, Ctrl-C, cut off", Load(users, None, finish=0.0, interrupt=CUT_OFF), None),
    ):
        yield Case(name, partial(cut_off, lab, name, load, killed))


def endings(lab: Lab, case: str, load: list[str]) -> Iterator[Line]:
    plan = lab.folder / "calls.toml"
    texts = {method: "x" * (LONG if method == "Slow" else 1) for method in OUTCOMES}
    steps = [f'[[request]]\ngrpc = "{SERVICE}/{name}"\nmessage.text = "{text}"\n' for name, text in texts.items()]
    target = GrpcTarget()
    try:
        head = f'target = "grpc://{target.place}"\nproto = "{PROTO}"\nchoice = "in_turn"\n'
        plan.write_text(head + "".join(steps))
        report = lab.observe(Load([str(plan), *load], lab.seconds(6, 2), may_be_invalid=True)).report
    finally:
        target.close()
    yield from outcomes(case, target, report, tuple(OUTCOMES))
    calls = report.row("gRPC", f"{SERVICE}/Slow").requests
    yield exact(case, "bytes of slow messages", target.message_bytes("Slow"), calls * (LONG + AROUND))
    events = report.row("each event", f"{SERVICE}/Many").requests
    yield exact(case, "replies of streams", target.received("Many") * REPLIES, events)
    yield exact(case, "requests in the total", target.requests.total(), report.total.requests)


def python_users(lab: Lab, load: list[str]) -> Iterator[Line]:
    target = GrpcTarget()
    try:
        arguments = ["-f", str(LOCUSTFILES / "calls.py"), "-H", f"grpc://{target.place}", *load]
        report = lab.observe(Load(arguments, lab.seconds(4, 2), may_be_invalid=True)).report
    finally:
        target.close()
    yield from outcomes("grpc, Python users", target, report, BY_PYTHON)


def outcomes(case: str, target: GrpcTarget, report: Report, methods: tuple[str, ...]) -> Iterator[Line]:
    for method in methods:
        row = report.row("gRPC", f"{SERVICE}/{method}")
        yield exact(case, f"calls of {method}", {OUTCOMES[method]: target.received(method)}, row.outcomes())


def times(lab: Lab) -> Iterator[Line]:
    case = "grpc, open model"
    target = GrpcTarget()
    try:
        arguments = [*call_of(target), "--rate", "100/s", "--max-users", str(USERS)]
        report = lab.observe(Load(arguments, lab.seconds(10, 2), may_be_invalid=True)).report
    finally:
        target.close()
    row = report.row("gRPC", f"{SERVICE}/Fixed")
    yield exact(case, "calls", {"success": target.received("Fixed")}, row.outcomes())
    truth = median(target.seconds)
    bounds = Bounds(DELAY * (1 - HDR_ERROR) - UNIT, truth + DELAY / 2)
    yield within(case, "service p50", milliseconds(truth), row.service(0.5), bounds)


def cut_off(lab: Lab, case: str, load: Load, killed: int | None) -> Iterator[Line]:
    """load: without the URL."""
    target = GrpcTarget(killed)
    try:
        run = Load(
            [*call_of(target), *load.arguments], load.seconds, load.finish, load.interrupt,
            has_begun=lambda: target.received("Fixed") > 0, may_be_invalid=True,
        )  # fmt: skip
        total = lab.observe(run).report.total
    finally:
        target.close()
    truth, unsure = target.received("Fixed"), total.count("reset") + total.unanswered
    reported = total.count("success") + unsure
    holds = reported - unsure <= truth <= reported and 0 < unsure <= USERS
    yield fact(case, "calls", f"{truth:,}", f"{reported:,}", f"{unsure} cut off", holds)


def call_of(target: GrpcTarget) -> list[str]:
    return [f"grpc://{target.place}/{SERVICE}/Fixed", "--proto", str(PROTO), "-d", '{"text": "x"}']
