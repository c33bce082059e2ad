from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll import api
from plimsoll.record import Failure
from plimsoll.record.manifest import Manifest
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from plimsoll.record import Health, Interval

NOON = 1_795_176_000.0  # 2026-11-20 12:00 UTC
SHOP = {
    "users": 5, "warmup": 1, "branch": "main", "scenario": {"name": "shop.py"}, "host": "http://127.0.0.1",
}  # fmt: skip


@pytest.fixture
def stored(
    tmp_path: Path, make_interval: Callable[..., Interval], make_health: Callable[..., Health]
) -> Iterator[api.RunStore]:
    """Two runs of two endpoints, 3 s each with 1 s of warm-up; the second one takes twice as long, and has a tag."""
    path = tmp_path / "runs.db"
    with Store.open(str(path)) as store:
        for number in range(2):
            manifest = Manifest.from_json({**SHOP, "started": NOON + 60 * number})
            writer = store.start_run(manifest)
            for second in range(3):
                at = NOON + 60 * number + second
                intervals = [
                    make_interval([10.0 * (number + 1)] * 40, second=second, name="/b"),
                    make_interval([20.0 * (number + 1)] * 39, second=second, name="/a"),
                    make_interval([5.0], second=second, name="/a", outcome="http"),
                ]
                failures = [Failure("GET", "/a", "http", "500 Server Error", 1, at, at)]
                writer.commit(intervals, [make_health(second, users=5, delay_us=[3])], failures)
            writer.finish("finished", NOON + 60 * number + 3)
        store.labels.of_run(store.run("last").id, tags=["nightly"])
    with api.open(path) as opened:
        yield opened
