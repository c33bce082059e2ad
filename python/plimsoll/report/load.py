"""What a run was to put on its target, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll.plain_text import one_line
from plimsoll.say.durations import duration_text
from plimsoll.say.numbers import counted

if TYPE_CHECKING:
    from plimsoll.record.manifest import Manifest, StoredPhase, StoredShape


def load_in_short(manifest: Manifest) -> str:
    """50 users; open model, 900/s; open model, 3 phases, HTTP/2. "" when nothing is known."""
    return ", ".join(part for part in (_load(manifest), _protocol(manifest)) if part)


def _protocol(manifest: Manifest) -> str:
    """HTTP/2; HTTP/2 with 10 users per connection. "" for HTTP/1.1."""
    if not manifest.http2:
        return ""
    shared = manifest.users_per_connection
    if shared is None:
        return "HTTP/2 with shared connections"
    return "HTTP/2" if shared == 1 else f"HTTP/2 with {shared} users per connection"


def _load(manifest: Manifest) -> str:
    load = manifest.load
    if manifest.shaped:
        return "users as the LoadTestShape says"
    if load is None:
        users = manifest.users
        return "" if users is None else f"{users} {'user' if users == 1 else 'users'}"
    only, *others = load.measured or (None,)
    text = counted(len(load.measured), "phase") if only is None or others else _shape(only.shape, load.is_open)
    return text if not load.is_open and len(load.measured) == 1 else f"{load.model} model, {text}"


def run_title(name: str, load: str, host: str) -> str:
    """mix.py · 20 users · http://127.0.0.1:8000. A host that the name has is not repeated, whatever its scheme."""
    address = host.rstrip("/").split("://")[-1]
    shown = "" if address and address in name else host
    return " · ".join(part for part in (one_line(name), load, shown) if part)


def load_at_length(manifest: Manifest, warmup: int) -> list[str]:
    """A line on what is left out, and one per phase when there are several. warmup: whole seconds that are left out,
    more than the warm-up if the run was reset."""
    planned = manifest.warmup
    why = "warm-up" if planned is None or warmup <= math.ceil(planned) else "reset by hand"
    lines = [f"{why}: the first {duration_text(warmup)} are left out"] if warmup else []
    load = manifest.load
    if load is not None and len(load.phases) > 1:
        lines += [_phase(phase, load.is_open) for phase in load.phases]
    return lines


def _phase(phase: StoredPhase, is_open: bool) -> str:
    length = "until the end" if phase.seconds is None else f"for {duration_text(phase.seconds)}"
    parts = [
        f"phase {one_line(phase.name)}: {_shape(phase.shape, is_open)}",
        f"from {duration_text(phase.start)} on, {length}",
        *(["random arrivals (Poisson)"] if phase.poisson else []),
        *(["warm-up"] if phase.warmup else []),
    ]
    return ", ".join(parts)


def _shape(shape: StoredShape, is_open: bool) -> str:
    """900/s; 0/s to 900/s; 3 steps from 100/s to 900/s, …"""
    # Their registry is of pydantic models, and most runs have none.
    from plimsoll.load.shapes.registry import in_words
    from plimsoll.load.shapes.shape import Wording

    return in_words(shape.kind, shape.values, Wording("/s" if is_open else " users", duration_text, counted))
