"""From the values of a table to what statistics work with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats.study import LOCUST, FailureKind, Measured, Precision

if TYPE_CHECKING:
    from plimsoll.importers.parts import Key, Parts, Values

FINE = 4
"""Decimals from which on a rate tells how long the run was."""
_CLOCKS = {"k6": "sent", "vegeta": "sent", "jmeter": "sent", "gatling": "sent", "hey": "sent", "wrk2": "due"}


def precision_of(tool: str, parts: Parts, *, corrected: bool) -> Precision:
    """How finely a report tells times: its tool's way if that is known, otherwise what its numbers show."""
    clock = "corrected" if corrected else _CLOCKS.get(tool, "unknown")
    if tool == "locust" and not corrected:
        return LOCUST
    return Precision(
        tool or "unknown",
        digits=parts.digits,
        floor=10.0**-parts.decimals if parts.decimals > 0 else 1.0,
        clock=clock,  # type: ignore[arg-type]
    )


def measured_of(key: Key, values: Values, seconds: float | None, status: int | None) -> tuple[Measured, str]:
    """(what was measured, a note on what follows from its numbers but is not among them)."""
    method, name = key
    requests, failures = _whole(values.get("requests")), _whole(values.get("failures"))
    rate, note = _rate(values, requests, seconds)
    quantiles = {q: each for (kind, q), each in values.by_measure.items() if kind == "quantile" and q is not None}
    highest = values.get("max")
    if highest is None:
        highest = quantiles.pop(1.0, None)
    kinds = (FailureKind("http", f"HTTP {status}", failures, status),) if status and failures else ()
    measured = Measured(
        method,
        name,
        requests=requests,
        failures=failures,
        rate=rate,
        mean=values.get("mean"),
        min=values.get("min"),
        max=highest,
        quantiles=quantiles,
        size=values.get("size"),
        kinds=kinds,
    )
    return measured, note


def _rate(values: Values, requests: int | None, seconds: float | None) -> tuple[float | None, str]:
    """As told; more finely where the number of requests and the duration say the same."""
    told = values.get("rate")
    if requests is None or not seconds:
        return told, ""
    exact = requests / seconds
    if told is None:
        return exact, "rates are requests / duration"
    half = 0.5 * 10.0 ** -values.decimals["rate", None]
    if abs(told - exact) <= half * 1.001 and told != exact:
        return exact, "rates are requests / duration: the table rounds them"
    return told, ""


def seconds_of(rows: list[Values]) -> float | None:
    """How long a run was, by its number of requests and a rate that is not rounded."""
    both = [
        (values.by_measure["requests", None], values.by_measure["rate", None])
        for values in rows
        if values.get("requests") and values.get("rate") and values.decimals["rate", None] >= FINE
    ]
    requests, rate = max(both, default=(0.0, 0.0))
    return requests / rate if rate else None


def succeeded(values: Values) -> float | None:
    """The share of requests that did."""
    success, failed = values.get("success"), values.get("failed")
    return success if success is not None else None if failed is None else 1 - failed


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
