"""What a threshold may say, and how it is read.

SUBJECT [of "ENDPOINT"] OP VALUE [over DURATION | for DURATION] [, else stop]

p99 < 200ms · errors < 0.1% · service p99.9 of "GET /todos/" <= 1s over 10s, else stop · rps >= 900 for 5s
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

from plimsoll.errors import UsageError
from plimsoll.record import FAILURES, OUTCOMES, STREAM_ROWS

SubjectKind = Literal["quantile", "mean", "min", "max", "requests", "rps", "outcomes"]
ThresholdUnit = Literal["ms", "%", "/s", ""]

if TYPE_CHECKING:
    from plimsoll.stats.latency.milliseconds import Clock

LONGEST = 600
"""Maximum seconds of a window; the histograms of a window's seconds are all in memory."""

_TIMES: dict[str, SubjectKind] = {
    "avg": "mean",
    "mean": "mean",
    "min": "min",
    "max": "max",
    "med": "quantile",
    "median": "quantile",
}
_SUBJECTS = ("p50", "p99.9", *_TIMES, "errors", "failures", "requests", "rps", *OUTCOMES)

_OPERATORS = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "=": "==", "==": "==", "!=": "!="}
_TIME_UNITS = {"us": 0.001, "µs": 0.001, "μs": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}
_SPAN_UNITS = {"s": 1, "m": 60}

_WORD = re.compile(r"[^\W\d][\w.]*")
_PERCENTILE = re.compile(r"p(\d+(?:\.\d+)?)")
_OPERATOR = re.compile(r"[<>=!]+")
_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_UNIT = re.compile(r"%|/s\b|[^\W\d]+")
_QUOTED = re.compile(r"""(?:([^\s"'<>=!]+)\s+)?(?:"([^"]*)"|'([^']*)')""")
_BLANK = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class ThresholdSubject:
    """The measured value."""

    kind: SubjectKind
    name: str
    """As written: p99, avg, errors."""
    q: float = 0.0
    """The quantile, 0…1; of kind "quantile" only."""
    clock: Clock = "response"
    """Which time, if the kind is a time."""
    outcomes: frozenset[str] = frozenset()
    """The counted exchanges; of kind "outcomes" only."""

    @property
    def is_time(self) -> bool:
        return self.kind in ("quantile", "mean", "min", "max")

    def __str__(self) -> str:
        return f"service {self.name}" if self.clock == "service" else self.name


@dataclass(frozen=True, slots=True)
class Threshold:
    """A condition on a run that holds or does not."""

    text: str
    subject: ThresholdSubject
    endpoint: str | None
    """ "METHOD name", or a name alone; None: all endpoints together."""
    op: Literal["<", "<=", ">", ">=", "==", "!="]
    limit: float
    """In `unit`."""
    unit: ThresholdUnit
    """ms, % (0…100), /s, or "" for a count."""
    mode: Literal["run", "over", "for"] = "run"
    """run: everything after the warm-up. over: each window of `seconds`. for: some second of each such window."""
    seconds: int = 0
    """1…LONGEST, 0 for the whole run."""
    stop: bool = False
    """The run ends when it fails."""

    def __str__(self) -> str:
        return self.text

    @property
    def is_upper(self) -> bool:
        """Whether only larger values can break it; this includes a count that must be 0."""
        return self.op in ("<", "<=") or (self.op == "==" and self.limit == 0)

    def covers(self, method: str, name: str) -> bool:
        """Whether it concerns an endpoint. Blanks are compared as in a threshold's text."""
        if self.endpoint is None:
            return method not in STREAM_ROWS
        if method in STREAM_ROWS:
            # A name alone is that of requests.
            return flat(self.endpoint) == flat(f"{method} {name}")
        return flat(self.endpoint) in (flat(name), flat(f"{method} {name}"))

    def holds(self, value: float, at_least: bool = False) -> bool:
        """at_least: the true value may be greater; then it holds only if it would hold for every greater value."""
        match self.op:
            case "<":
                return value < self.limit and not at_least
            case "<=":
                return value <= self.limit and not at_least
            case ">":
                return value > self.limit
            case ">=":
                return value >= self.limit
            case "==":
                return value == self.limit and not at_least
            case "!=":
                return value > self.limit or (value < self.limit and not at_least)


def flat(text: str) -> str:
    """With single blanks."""
    return " ".join(text.split())


def parse_threshold(text: str) -> Threshold:
    """Raises UsageError, which shows the position and the allowed text."""
    return _Reader(text).threshold()


class _Reader:
    """Reads a text from left to right; `_at` is the first unread character."""

    def __init__(self, text: str) -> None:
        # On one line, so that the caret is under its character.
        self._text = flat(text)
        self._at = 0

    def threshold(self) -> Threshold:
        subject = self._subject()
        endpoint = self._endpoint() if self._word("of") else None
        op = self._operator()
        limit, unit = self._value(subject)
        start = self._at
        mode, seconds = self._span()
        stop = self._else_stop()
        self._end()
        threshold = Threshold(self._text, subject, endpoint, op, limit, unit, mode, seconds, stop)
        if stop and mode == "run" and not threshold.is_upper:
            raise self._wrong(
                "only an upper bound can end a run at any time; add `over 10s` or `for 10s` before `else stop`",
                start, len(self._text),
            )  # fmt: skip
        return threshold

    def _subject(self) -> ThresholdSubject:
        start, word = self._take(_WORD)
        if word not in ("response", "service"):
            return self._plain_subject(start, word)
        clock: Clock = "service" if word == "service" else "response"
        start, word = self._take(_WORD)
        subject = self._plain_subject(start, word)
        if not subject.is_time:
            raise self._wrong(f"`{clock}` goes before a time: p<number>, avg, min, max, median", start, self._at)
        return ThresholdSubject(subject.kind, subject.name, subject.q, clock)

    def _plain_subject(self, start: int, word: str) -> ThresholdSubject:
        if percentile := _PERCENTILE.fullmatch(word):
            percent = float(percentile[1])
            if not 0 < percent <= 100:
                raise self._wrong("a percentile is above 0 and at most 100", start, self._at)
            # Rounded, so that 99.9 / 100 is 0.999 with the correct rank.
            return ThresholdSubject("quantile", word, round(percent / 100, 12))
        if word in _TIMES:
            return ThresholdSubject(_TIMES[word], word, 0.5)
        if word == "requests" or word == "rps":
            return ThresholdSubject("requests" if word == "requests" else "rps", word)
        if word in ("errors", "failures"):
            return ThresholdSubject("outcomes", word, outcomes=FAILURES - {"dropped"})
        if word in OUTCOMES:
            return ThresholdSubject("outcomes", word, outcomes=frozenset({word}))
        raise self._unknown_subject(start, word)

    def _endpoint(self) -> str:
        self._blank()
        if quoted := _QUOTED.match(self._text, self._at):
            method, double, single = quoted.groups()
            name = double if double is not None else single
            if not name.strip():
                raise self._wrong("an endpoint has a name", quoted.start(), quoted.end())
            self._at = quoted.end()
            return f"{method} {name}" if method else name
        end = self._operator_after_name()
        name = self._text[self._at : end].strip()
        if not name:
            raise self._wrong('after `of` comes an endpoint: "GET /todos/", or its name alone', self._at, end)
        self._at = end
        return name

    def _operator_after_name(self) -> int:
        """The position of the operator that ends a name without quotes. Names may contain an `=`."""
        found = list(_OPERATOR.finditer(self._text, self._at))
        apart = [operator for operator in found if self._text[operator.start() - 1] == " "]
        candidates = apart or found
        if len(candidates) > 1:
            start, end = candidates[0].start(), candidates[-1].end()
            raise self._wrong("where does the endpoint's name end? Put it in quotes", start, end)
        return candidates[0].start() if candidates else len(self._text)

    def _operator(self) -> Literal["<", "<=", ">", ">=", "==", "!="]:
        start, operator = self._take(_OPERATOR)
        if operator not in _OPERATORS:
            raise self._wrong(f"expected one of {' '.join(_OPERATORS)}", start, max(self._at, start + 1))
        return _OPERATORS[operator]  # type: ignore[return-value]

    def _value(self, subject: ThresholdSubject) -> tuple[float, ThresholdUnit]:
        start, number = self._take(_NUMBER)
        if not number:
            raise self._wrong_value("expected", subject, start, start + 1)
        unit_at, unit = self._take(_UNIT)
        if unit in ("over", "for", "else"):
            unit, self._at = "", unit_at
        value = float(number)
        if subject.is_time:
            if unit in _TIME_UNITS:
                return value * _TIME_UNITS[unit], "ms"
        elif unit == "%" and subject.kind == "outcomes":
            if value > 100:
                raise self._wrong("a share is between 0% and 100%", start, self._at)
            return value, "%"
        elif unit == "" or (unit == "/s" and subject.kind == "rps"):
            return value, "/s" if subject.kind == "rps" else ""
        raise self._wrong_value(f"`{subject}` is compared with", subject, start, max(self._at, unit_at))

    def _span(self) -> tuple[Literal["run", "over", "for"], int]:
        for mode in ("over", "for"):
            if self._word(mode):
                return mode, self._seconds()
        return "run", 0

    def _seconds(self) -> int:
        start, number = self._take(_NUMBER)
        _, unit = self._take(_UNIT)
        end = max(self._at, start + 1)
        if not number or unit not in _SPAN_UNITS:
            raise self._wrong("expected a duration in whole seconds or minutes: 10s, 1m", start, end)
        seconds = float(number) * _SPAN_UNITS[unit]
        if seconds != int(seconds) or not 1 <= seconds <= LONGEST:
            raise self._wrong(f"a window has 1 to {LONGEST} whole seconds", start, end)
        return int(seconds)

    def _else_stop(self) -> bool:
        start = self._at
        self._blank()
        if self._text.startswith(",", self._at):
            self._at += 1
        if self._word("else"):
            if not self._word("stop"):
                self._blank()
                raise self._wrong("expected `stop` after `else`", self._at, len(self._text))
            return True
        self._at = start
        return False

    def _end(self) -> None:
        self._blank()
        if self._at == len(self._text):
            return
        if self._text[self._at] == ",":
            raise self._wrong(
                "one threshold at a time; after a comma comes only `else stop`", self._at, len(self._text)
            )
        raise self._wrong("expected `over 10s`, `for 10s`, `, else stop` or the end", self._at, len(self._text))

    def _word(self, word: str) -> bool:
        """Read this word if it comes next."""
        self._blank()
        found = _WORD.match(self._text, self._at)
        if found and found[0] == word:
            self._at = found.end()
            return True
        return False

    def _take(self, pattern: re.Pattern[str]) -> tuple[int, str]:
        """The position and the next text of this pattern; "" if there is none."""
        self._blank()
        found = pattern.match(self._text, self._at)
        start = self._at
        if found:
            self._at = found.end()
        return start, found[0] if found else ""

    def _blank(self) -> None:
        if found := _BLANK.match(self._text, self._at):
            self._at = found.end()

    def _unknown_subject(self, start: int, word: str) -> UsageError:
        near = get_close_matches(word, _SUBJECTS, 1)
        what = f"unknown subject; did you mean {near[0]}? Known are" if near else "a threshold begins with its subject:"
        known = f"p<number>, avg, min, max, median, errors, requests, rps, or an outcome: {', '.join(OUTCOMES)}"
        return self._wrong(f"{what} {known}", start, max(self._at, start + 1))

    def _wrong_value(self, what: str, subject: ThresholdSubject, start: int, end: int) -> UsageError:
        allowed = "a plain number per second" if subject.kind == "rps" else "a plain number"
        if subject.is_time:
            allowed = "a time with its unit: us, ms, s or m"
        elif subject.kind == "outcomes":
            allowed = "a share in % or a count"
        return self._wrong(f"{what} {allowed}", start, end)

    def _wrong(self, what: str, start: int, end: int) -> UsageError:
        marks = "^" * max(1, min(end, len(self._text)) - start)
        return UsageError(f"threshold: {what}\n  {self._text}\n  {' ' * start}{marks}")
