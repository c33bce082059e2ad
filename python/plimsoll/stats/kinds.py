"""Which runs are of one kind, so that their numbers are comparable: those with the same operation and target.

These must be equal: the names of the locustfiles or of the plan's file (its content may change: a trend is meant to
show this), the selection from them (tags, options of the locustfile), the target's address, the model and the load with
its length, the warm-up, the number of worker processes, and whose times count.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from plimsoll.stats.study import Level

if TYPE_CHECKING:
    from plimsoll.record.manifest import Manifest

_OF_RUN = (
    "model",
    "users_kind",
    "host",
    "users",
    "shaped",
    "spawn_rate",
    "run_time",
    "max_users",
    "warmup",
    "processes",
)
_OF_PLAN = ("arguments", "tags", "exclude_tags", "equal_weights", "reset_stats")


@dataclass(frozen=True, slots=True)
class RunKind:
    key: str
    """Letters and digits; the same for runs of one kind."""
    source: str
    """The names of the files, or the loaded URL."""


def kind_of(manifest: Manifest) -> RunKind:
    plan = manifest.plan
    source = source_of(manifest)
    equal = {
        "source": source,
        "times_of": manifest.times_of,
        "load": manifest.load.to_json() if manifest.load is not None else None,
        **{name: getattr(manifest, name) for name in _OF_RUN},
        **{name: getattr(plan, name) for name in _OF_PLAN},
    }
    text = json.dumps(equal, sort_keys=True, ensure_ascii=True)
    return RunKind(hashlib.sha256(text.encode()).hexdigest()[:16], source)


def level_of_run(manifest: Manifest) -> Level | None:
    """The one level that a run's load kept to; None when it had several, or a LoadTestShape decided."""
    load = manifest.load
    if manifest.shaped:
        return None
    if load is None:
        return Level("users", float(manifest.users)) if manifest.users else None
    # The rise to a number of users is a phase of its own.
    kept = [phase.shape for phase in load.measured if phase.name != "start"]
    if len(kept) != 1 or kept[0].kind != "constant":
        return None
    return Level("/s" if load.is_open else "users", float(kept[0].values["level"]))


def source_of(manifest: Manifest) -> str:
    """The names of the locustfiles or of the plan's file, or the loaded URL."""
    names = ", ".join(PurePath(file.path).name for file in manifest.scenario.files)
    return names or manifest.plan.source or ""
