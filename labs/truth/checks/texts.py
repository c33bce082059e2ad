"""Chat completions of a language model: counts are exact, times are those of the target's schedule.

The target sends the role at once, the first content after FIRST (a random SHARE of the requests: after SLOW), the other
chunks EVERY after one another, and says how many tokens they are. A request whose first content comes after SLOW never
keeps the objective, which lies between FIRST and SLOW, and the target's own account says how many these are. The target
is never early, so the first content has a lower bound. A time per token is (last − first) / (tokens − 1); timers make
it vary, so its median must be within half and double of the schedule's.
"""

from collections.abc import Iterator
from functools import partial
from math import inf

from ..lab import Lab, Load
from ..line import Line, exact, fact, milliseconds, within
from ..plimsoll_run import LOCUSTFILES
from ..tolerance import HDR_ERROR, UNIT, Bounds
from .case import Case

CHUNKS, TOKENS, FIRST, SLOW, EVERY, SHARE = 10, 19, 0.05, 2.0, 0.02, 0.3
PATH = f"/v1/chat/completions?chunks={CHUNKS}&first_ms={FIRST * 1e3:g}&every_ms={EVERY * 1e3:g}"
WHOLE = SLOW + (CHUNKS - 1) * EVERY
"""Least time of a slow request."""
OBJECTIVE = 1.0
PER_TOKEN = (CHUNKS - 1) * EVERY / (TOKENS - 1)


def check(lab: Lab) -> Iterator[Case]:
    for case, user, usage in (
        ("texts, tokens by usage", None, TOKENS), ("texts, tokens by chunk", None, 0),
        ("texts of HttpUser", "Plain", TOKENS), ("texts of FastHttpUser", "Fast", 0),
    ):  # fmt: skip
        yield Case(case, partial(observe, lab, case, user, usage))


def observe(lab: Lab, case: str, user: str | None, usage: int) -> Iterator[Line]:
    """user: the class of Python users; None for native ones."""
    target = f"{PATH}&tokens={usage}&slow_ms={SLOW * 1e3:g}&share={SHARE:g}&seed=7"
    native = [lab.url(target), "--stream", "llm"]
    arguments = ["-f", str(LOCUSTFILES / "chat.py"), user, "-H", lab.target.url] if user else native
    arguments += ["--slo", f"first_token={OBJECTIVE * 1e3:g}ms", "--rate", "20/s"]
    environment = (("TRUTH_TARGET", target),)
    observation = lab.observe(Load(arguments, lab.seconds(10, 3), may_be_invalid=True, environment=environment))
    report, account = observation.report, observation.truth.path(target)
    received = account.received
    rows = {method: report.row(method, target) for method in ("GET", "first event", "first token", "each chunk")}
    tokens_row = "each token" if usage else "token by chunk"
    tokens, good = report.row(tokens_row, target), report.row("good request", target)
    yield exact(case, "requests", {"success": received}, rows["GET"].outcomes())
    yield exact(case, "requests in the total", received, report.total.requests)
    yield exact(case, "first events", received, rows["first event"].requests)
    yield exact(case, "first tokens", received, rows["first token"].requests)
    yield exact(case, "chunks with content", CHUNKS * received, rows["each chunk"].requests)
    yield exact(case, "tokens", (usage or CHUNKS) * received, tokens.requests)
    fast = sum(seconds < WHOLE * (1 - HDR_ERROR) for seconds in account.seconds())
    yield fact(case, "good requests", f"{fast:,}", f"{good.requests:,}", f"≤ {fast:,}", good.requests <= fast)
    yield fact(
        case, "most of the fast ones are good", f"{fast:,}", f"{good.requests:,}", "≥ half", good.requests * 2 >= fast
    )
    low = Bounds(FIRST * (1 - HDR_ERROR) - UNIT, inf)
    yield within(case, "first token p50", milliseconds(FIRST), rows["first token"].service(0.5), low)
    each = PER_TOKEN if usage else EVERY
    yield within(case, "time per token p50", milliseconds(each), tokens.service(0.5), Bounds(each / 2, each * 2))
