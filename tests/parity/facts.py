"""What is compared: the facts of a run, by name, made of what it left behind."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from . import normal
from .happened import happened_facts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .case import Run
    from .server import Received
    from .tool import Left

Facts = dict[str, Any]
"""By name; values as JSON has them."""

COUNTED = ("Request Count", "Failure Count", "Average Content Size")
"""Columns of `_stats.csv` that do not depend on how long anything took."""

LOG_LINE = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] [^/ ]+/(\w+)/([\w.]+): (.*)")
MAIN_LINE = re.compile(r"\[[^]]*\] [^/ ]+/(INFO)/(locust\.main): (.*)")
"""What scripts look for to see how far a run is."""


def facts_of(run: Run, left: Left) -> Facts:
    """Every fact of the run."""
    facts: Facts = {"exit code": "killed" if left.exit_code is None else left.exit_code}
    facts |= _server_facts(left.received, ordered="unordered" not in run.options)
    facts |= happened_facts(left.folder / "happened", ordered="unordered" not in run.options)
    facts |= _csv_facts(left.folder / "csv", times="times" in run.options)
    if "stdout" in run.compare:
        facts["stdout"] = left.out.splitlines()
    if "log" in run.compare:
        facts["log"] = list(_log_lines(left.err))
    if "main-log" in run.compare:
        facts["main log"] = [found[3] for line in left.err.splitlines() if (found := MAIN_LINE.match(line))]
    if "files" in run.compare:
        facts["files"] = sorted(
            normal.relative(path, left.folder)
            for path in left.folder.rglob("*")
            if path.is_file() and not path.name.startswith((".", "plimsoll.db", "happened"))
        )
    return {normal.text(name): normal.value(value) for name, value in facts.items()}


def _server_facts(received: list[Received], *, ordered: bool) -> Facts:
    facts: Facts = {}
    endpoints = [f"{each.method} {each.target}" for each in received]
    for endpoint, count in Counter(endpoints).items():
        facts[f"requests {endpoint}"] = count
        mine = [each for each in received if f"{each.method} {each.target}" == endpoint]
        wires = [{"headers": list(each.headers), "body": each.body.decode("latin-1")} for each in mine]
        facts[f"wire {endpoint}"] = _distinct(wires)
    if ordered:
        facts["sequence of requests"] = endpoints
        facts["connections of requests"] = [each.connection for each in received]
    else:
        facts["connections"] = len({each.connection for each in received})
    return facts


def _distinct(values: list[Any]) -> list[Any]:
    """Each value once, in the order of first appearance."""
    return [value for index, value in enumerate(values) if value not in values[:index]]


def _csv_facts(folder: Path, *, times: bool) -> Facts:
    """Files that a run writes once a second are written again at its end, so these are final."""
    facts: Facts = {}
    for path in sorted(folder.glob("*.csv")) if folder.is_dir() else ():
        with path.open(newline="") as file:
            rows = list(csv.reader(file))
        kind = path.stem.removeprefix("run_")
        facts[f"csv {kind} columns"] = rows[0] if rows else None
        reader = {"stats": _stats_rows, "failures": _failure_rows, "exceptions": _exception_rows}.get(kind)
        if rows and reader:
            facts |= reader([dict(zip(rows[0], row, strict=False)) for row in rows[1:]], times)
    return facts


def _stats_rows(rows: list[dict[str, str]], times: bool) -> Facts:
    facts: Facts = {"csv stats rows": [f"{row.get('Type')} {row.get('Name')}" for row in rows]}
    for row in rows:
        columns = [name for name in row if "/s" not in name] if times else COUNTED
        facts[f"csv stats {row.get('Type')} {row.get('Name')}"] = {name: row.get(name) for name in columns}
    return facts


def _failure_rows(rows: list[dict[str, str]], _: bool) -> Facts:
    """In any order: Locust's is that of a hash."""
    return {f"csv failures {row['Method']} {row['Name']} {row['Error']}": row["Occurrences"] for row in rows}


def _exception_rows(rows: list[dict[str, str]], _: bool) -> Facts:
    return {f"csv exceptions {row['Message']}": [row["Count"], row["Traceback"], row["Nodes"]] for row in rows}


def _log_lines(err: str) -> Iterator[str]:
    """Warnings and worse: what the two tools tell in between is theirs."""
    for line in err.splitlines():
        found = LOG_LINE.match(line)
        if found and found[1] in ("WARNING", "ERROR", "CRITICAL"):
            yield f"{found[1]} {found[2]}: {found[3]}"


def as_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
