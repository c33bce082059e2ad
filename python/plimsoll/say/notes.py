"""What must be known of a run besides its tables, in lines."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.record import OTHERS
from plimsoll.say.durations import duration_text
from plimsoll.say.names import folded_names, naming_hint
from plimsoll.say.numbers import NONE, amount, count, counted
from plimsoll.say.validity import omission_lines
from plimsoll.stats.latency.milliseconds import ms_at
from plimsoll.stats.names import name_pattern

if TYPE_CHECKING:
    from plimsoll._engine import Histogram
    from plimsoll.record import CaughtException
    from plimsoll.stats.generator import GeneratorView
    from plimsoll.stats.latency.milliseconds import Latency
    from plimsoll.stats.latency.omission import Omission
    from plimsoll.stats.validity import Validity
    from plimsoll.stats.view import RunView


_FRAME = re.compile(
    r'^ {2}File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)\n(?: {4}(?P<code>\S.*))?', re.MULTILINE
)
_NOT_THE_USERS = ("/site-packages/", "/dist-packages/", "/lib/python3", "<frozen ", str(Path(__file__).parents[1]))


def remarks(view: RunView, response: Latency) -> list[str]:
    """What the numbers leave out or know only in part. response: of all exchanges."""
    lines = []
    if view.total.counts.retries:
        lines.append(
            "sent again, as the server had closed the connection or refused them: "
            f"{counted(view.total.counts.retries, 'request')}"
        )
    if backed_off := view.generator.backed_off:
        lines.append(
            f"users who could not connect waited before they tried again: {duration_text(backed_off)} in all "
            "(--no-connect-backoff: at once)"
        )
    if response.censored:
        lines.append(f"≥: at least; {counted(response.censored, 'timeout')} kept at the limit that ended the wait")
    times = (response.mean, response.quantile(0.99), response.max)
    if response.waited and any(time is not None and time.at_least for time in times):
        lines.append(
            "≥: at least; a response that did not come would have taken longer than the wait for it "
            "(product-limit estimate, Kaplan–Meier)"
        )
    if view.times_of != "all" and view.total.failures:
        lines.append(f"times are those of successful requests only; {counted(view.total.failures, 'request')} failed")
    if response.overflow:
        lines.append(f"longer than 1 h, where percentiles end: {counted(response.overflow, 'exchange')}")
    if view.total.unanswered:
        lines.append(_unanswered(view))
    return lines


def _unanswered(view: RunView) -> str:
    many, overdue = counted(view.total.unanswered, "request"), view.total.overdue
    if overdue == view.total.unanswered:
        return f"no response when the run ended: {many}, counted as failures"
    rest = "merely in flight" if not overdue else f"{overdue} of them failures, the others merely in flight"
    return f"no response when their user was stopped: {many}, {rest}"


def names_line(view: RunView) -> str | None:
    """That there were more names than are counted apart, and what to do about it."""
    keys = {(endpoint.method, endpoint.name): endpoint.requests for endpoint in view.endpoints}
    requests = keys.pop(OTHERS, 0)
    if not requests:
        return None
    return f"{folded_names(len(keys), requests)} {naming_hint(name_pattern(name for _, name in keys))}"


def doubts(validity: Validity, omission: Omission | None) -> list[str]:
    """Checks that could not be made, and what a closed model does not see."""
    unknown = ", ".join(check.name for check in validity.checks if check.state == "unknown")
    lines = [f"could not be checked: {unknown}"] if unknown else []
    if omission and omission.is_significant:
        lines += omission_lines(omission)
    return lines


def load_line(view: RunView, max_users: int | None) -> str:
    """What became of the arrivals of the open model. max_users: the most that there might be, if that is known."""
    generator = view.generator
    parts = [
        f"offered {count(generator.offered)} ({view.offered_rate:.1f}/s)",
        f"sent {count(generator.begun)}",
        f"dropped {count(generator.dropped)}",
    ]
    if waited := max(generator.waiting_by_second().values(), default=0):
        parts.append(f"waiting peak {count(waited)}")
    peak = max(generator.users_by_second().values(), default=0)
    most = f" of max {count(max_users)}" if max_users else ""
    parts.append(f"users peak {count(peak)}{most}")
    return f"load: {', '.join(parts)}"


def generator_line(generator: GeneratorView) -> str:
    """How well the load generator itself kept up."""
    if not generator.workers:
        return "generator: nothing is known of it"
    parts = [
        counted(generator.workers, "worker"),
        f"lag p99 {_p99(generator.lag)}",
        f"delay p99 {_p99(generator.delay)}",
        f"CPU max {100 * generator.cpu_max:.0f}%",
        f"stamps: {_stamps(generator)}",
    ]
    if generator.exhausted:
        parts.append(f"out of files, ports or memory {counted(generator.exhausted, 'time')}")
    return f"generator: {', '.join(parts)}"


def _p99(durations: Histogram) -> str:
    late = ms_at(durations, 0.99)
    return NONE if late is None else f"{amount(late)} ms"


def _stamps(generator: GeneratorView) -> str:
    """Which clock stamped the arrivals."""
    total, user = generator.delay.count, generator.user_stamps
    if user and user >= total:
        return "user"
    rejected = f", {count(generator.rejected_stamps)} of them rejected" if generator.rejected_stamps else ""
    return f"kernel, {count(user)} of {count(total)} user{rejected}" if user else "kernel" if total else NONE


def user_line(traceback: str) -> str:
    """Where in the user's own files it happened: the last line that is neither a library's nor ours; "" for none."""
    own = [frame for frame in _FRAME.finditer(traceback) if not any(part in frame["file"] for part in _NOT_THE_USERS)]
    if not own:
        return ""
    code = f": {own[-1]['code']}" if own[-1]["code"] else ""
    return f"{own[-1]['file']}:{own[-1]['line']}, in {own[-1]['function']}{code}"


def what_of(exception: CaughtException) -> str:
    """What happened: the last line of the traceback, which names the class too."""
    lines = exception.traceback.strip().splitlines()
    first = exception.message.strip().splitlines()[0] if exception.message.strip() else ""
    return lines[-1] if lines and first in lines[-1] else first or (lines[-1] if lines else "")
