from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from plimsoll.run.transport import kept as module
from plimsoll.run.transport.frames import pack, pack_report
from plimsoll.run.transport.kept import MOST_SNAPSHOTS, KeptSeconds, KeptSnapshots
from plimsoll.run.transport.messages import EncodedSnapshot
from plimsoll.run.transport.report_rules import ProtocolError

if TYPE_CHECKING:
    from pathlib import Path


def _snapshot(sequence: int, epoch: int = 5) -> EncodedSnapshot:
    return EncodedSnapshot(1, sequence, epoch, [], [], [], [], {})


def test_the_last_snapshots_and_the_plan_are_in_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    file = tmp_path / "kept"
    file.write_bytes(b"of an earlier run, and longer than what follows" * 1000)
    file.chmod(0o600)
    kept = KeptSnapshots(str(file), 1)
    kept.plan, kept.first = {"run_id": "r", "host": "http://h"}, 7
    for sequence in range(MOST_SNAPSHOTS + 2):
        kept.add(pack_report(_snapshot(sequence)))
    kept.write()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    read = KeptSeconds.read(file.read_bytes())
    assert read is not None
    assert (read.worker, read.first, read.run, read.epoch, read.plan) == (1, 7, "r", 5, kept.plan)
    assert [each.sequence for each in read.snapshots] == list(range(2, MOST_SNAPSHOTS + 2))


def test_nothing_is_written_of_a_run_that_has_not_begun(tmp_path: Path) -> None:
    kept = KeptSnapshots(str(tmp_path / "kept"), 0)
    kept.add(pack_report(_snapshot(0)))
    kept.write()
    kept = KeptSnapshots(str(tmp_path / "kept"), 0)
    kept.plan = {}
    kept.write()
    assert not (tmp_path / "kept").exists()
    assert KeptSeconds.read(b"") is None


def test_snapshots_of_a_ramp_up_that_was_forgotten_are_left_out() -> None:
    frames = [_snapshot(0, epoch=5), _snapshot(1, epoch=9), _snapshot(2, epoch=9)]
    read = KeptSeconds.read(b"".join([pack("plan", 1, 0, {}), *map(pack_report, frames)]))
    assert read is not None
    assert [each.sequence for each in read.snapshots] == [1, 2]


@pytest.mark.parametrize(
    "data",
    [
        pack("plan", 1, 0, {}),
        pack("plan", 1),
        pack("plan", "x", 0, {}) + pack_report(_snapshot(0)),
        pack("x"),
        pack("plan", 1, -1, {}) + pack_report(_snapshot(0)),
        pack("plan", 2, 0, {}) + pack_report(_snapshot(0)),
    ],
)
def test_what_is_no_such_file_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        KeptSeconds.read(data)


def test_snapshots_that_are_too_large_together_for_a_message_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pack_report(_snapshot(0))
    monkeypatch.setattr(module, "MOST_BYTES", 3 * len(frame))
    kept = KeptSnapshots(str(tmp_path / "kept"), 1)
    kept.plan = {}
    for sequence in range(9):
        kept.add(pack_report(_snapshot(sequence)))
    kept.write()
    read = KeptSeconds.read((tmp_path / "kept").read_bytes())
    assert read is not None
    assert [each.sequence for each in read.snapshots] == [6, 7, 8]
