"""The facts that a run's processes wrote down themselves: events with their arguments, notes, and the order of all."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Happening = tuple[str, str, Any]
"""Its kind (`event` or `note`), its name, and its arguments or value."""

BY_TIME = {"report_to_master", "worker_report", "heartbeat_sent", "heartbeat_received", "usage_monitor"}
"""Events of a clock: how many there are depends on how long the run took. Compared is what they look like."""

BY_MACHINE = {"cpu_warning"}
"""Events that depend on what else the machine does: not compared."""

ROLES = {"<LocalRunner>": "local", "<MasterRunner>": "main", "<WorkerRunner>": "worker"}
"""What a process is, by the runner that its `init` event has."""


def happened_facts(folder: Path, *, ordered: bool) -> dict[str, Any]:
    """Processes of the same role are compared as one set: which of two workers is first is chance."""
    processes: dict[str, list[list[Happening]]] = defaultdict(list)
    for path in sorted(folder.glob("happened.*.jsonl")):
        happenings = [tuple(json.loads(line)) for line in path.read_text().splitlines()]
        processes[_role(happenings)].append(happenings)
    facts: dict[str, Any] = {}
    for role, all_of_role in processes.items():
        facts |= _facts_of_role("" if role == "local" else f" ({role})", all_of_role, ordered=ordered)
    return facts


def _role(happenings: list[Happening]) -> str:
    runners = [value["runner"] for kind, name, value in happenings if (kind, name) == ("event", "init")]
    return ROLES.get(runners[0], runners[0]) if runners else "no init"


def _facts_of_role(role: str, processes: list[list[Happening]], *, ordered: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    values: dict[str, list[Any]] = defaultdict(list)
    for happenings in processes:
        for kind, name, value in happenings:
            if name not in BY_MACHINE:
                values[f"{kind} {name}"].append(value)
    for key, all_values in values.items():
        kind, _, name = key.partition(" ")
        if name in BY_TIME:
            facts[f"{key}{role}"] = _sorted_set(all_values)
        elif not ordered or len(processes) > 1:
            facts[f"{key}{role}"] = sorted(all_values, key=json.dumps)
        elif kind == "note" or len(all_values) == 1:
            facts[f"{key}{role}"] = all_values
        else:
            facts |= {f"{key} {index}{role}": value for index, value in enumerate(all_values, 1)}
    orders = [[_label(*each) for each in happenings if each[1] not in BY_TIME | BY_MACHINE] for happenings in processes]
    if not ordered:
        facts[f"happenings{role}"] = dict(sorted(Counter(label for order in orders for label in order).items()))
    else:
        facts[f"order of happenings{role}"] = sorted(orders) if len(orders) > 1 else orders[0]
    return facts


def _label(kind: str, name: str, value: Any) -> str:
    """What stands for it in the order; what was noted is a fact of its own."""
    if name == "request" and kind == "event":
        return f"request {value.get('request_type')} {value.get('name')}"
    return name


def _sorted_set(values: list[Any]) -> list[Any]:
    return [json.loads(text) for text in sorted({json.dumps(value, sort_keys=True) for value in values})]
