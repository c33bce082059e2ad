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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    chosen: tuple[str, ...]
    """The selection from them, in words."""


def kind_of(manifest: Mapping[str, Any]) -> RunKind:
    plan = manifest.get("plan") or {}
    source = source_of(manifest)
    equal = {
        "source": source,
        "times_of": manifest.get("times_of") or "all",
        "load": manifest.get("load"),
        **{name: manifest.get(name) for name in _OF_RUN},
        **{name: plan.get(name) for name in _OF_PLAN},
    }
    text = json.dumps(equal, sort_keys=True, ensure_ascii=True)
    return RunKind(hashlib.sha256(text.encode()).hexdigest()[:16], source, _chosen(plan))


def scenario_name(manifest: Mapping[str, Any]) -> str:
    """The name of what the run does; "" if it has none."""
    return str((manifest.get("scenario") or {}).get("name") or "")


def source_of(manifest: Mapping[str, Any]) -> str:
    """The names of the locustfiles or of the plan's file, or the loaded URL."""
    files = (manifest.get("scenario") or {}).get("files") or ()
    names = ", ".join(PurePath(str(each.get("path", ""))).name for each in files)
    return names or str((manifest.get("plan") or {}).get("source") or "")


def _chosen(plan: Mapping[str, Any]) -> tuple[str, ...]:
    words = " ".join(str(each) for each in plan.get("arguments") or ())
    tags, without = (", ".join(map(str, plan.get(name) or ())) for name in ("tags", "exclude_tags"))
    parts = (words, f"tags {tags}" if tags else "", f"without tags {without}" if without else "")
    return tuple(each for each in parts if each)
