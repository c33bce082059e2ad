"""Is the network interface of the load generator full?

Requests and responses take at least `LINK_FULL` of its speed over the whole measured time, of at least `LEAST_SECONDS`.
The finding LINK judges each second, and needs the whole record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll.stats.generator import BITS, LEAST_SECONDS, LINK_FULL

if TYPE_CHECKING:
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.view import RunView


@dataclass(frozen=True, slots=True)
class FilledLink:
    """An interface that carries no more."""

    interface: str
    mbit_s: int
    """Its speed, Mbit/s."""
    direction: Literal["received", "sent"]
    used_mbit_s: float
    """By requests or responses, on average."""


def filled_link(view: RunView, manifest: Manifest) -> FilledLink | None:
    """None also where the speed is not known: of virtual interfaces, and of workers on other machines."""
    link, seconds = manifest.machine.link, view.duration
    if link is None or seconds < LEAST_SECONDS:
        return None
    counts = view.total.counts
    received, sent = (BITS * volume / 1e6 / seconds for volume in (counts.bytes_in, counts.bytes_out))
    if max(received, sent) < LINK_FULL * link.mbit_s:
        return None
    direction: Literal["received", "sent"] = "sent" if sent > received else "received"
    return FilledLink(link.interface, link.mbit_s, direction, max(received, sent))
