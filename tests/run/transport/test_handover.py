"""What the workers of a lost coordinator measured, between the process that has it and the one that wants it."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.record import GENERATOR_COUNTERS
from plimsoll.run.transport import greeting
from plimsoll.run.transport.clock import ClockEstimate
from plimsoll.run.transport.frames import pack, pack_report
from plimsoll.run.transport.handover import HandoverServer, fetch
from plimsoll.run.transport.messages import EMPTY, EncodedSnapshot
from plimsoll.run.transport.own_folder import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator

RUN = "20261126-1430-abcd"


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Its path is short, as that of a socket must be."""
    path = tempfile.mkdtemp(prefix="p")
    monkeypatch.setenv("TMPDIR", path)
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield Path(path)
    shutil.rmtree(path)


def _part(worker: int, last: int, run: str = RUN) -> tuple[bytes, ClockEstimate]:
    """last: the second that it measured last."""
    row = (last, *(0 for _ in GENERATOR_COUNTERS), EMPTY, EMPTY)
    snapshot = EncodedSnapshot(worker, 0, 5, [], [(row, {})], [], [], {})  # type: ignore[list-item]
    return pack("plan", worker, 0, {"run_id": run}) + pack_report(snapshot), ClockEstimate(1_000 + worker, 7)


class Serving(threading.Thread):
    """The link, in a thread."""

    def __init__(self, *parts: tuple[bytes, ClockEstimate], timeout: float = 30.0) -> None:
        super().__init__(daemon=True)
        self._parts = parts
        self._timeout = timeout
        self.server = HandoverServer(RUN)
        self.start()

    def run(self) -> None:
        with self.server:
            self.server.serve(self._parts, self._timeout)

    @property
    def has_ended(self) -> bool:
        self.join(30)
        return not self.is_alive()


def _folders(temporary: Path) -> list[Path]:
    return list(temporary.glob(f"{PREFIX}*"))


def test_all_is_handed_over_to_this_user_only_and_then_nothing_is_left(temporary: Path) -> None:
    link = Serving(_part(0, 4), _part(1, 5), _part(1, 9), _part(1, 7), _part(2, 3, run="of-another-run"))
    (folder,) = _folders(temporary)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / RUN).stat().st_mode) == 0o600
    with fetch(RUN) as left:  # type: ignore[union-attr]
        kept = {index: each.kept.last for index, each in left.workers.items() if each.kept is not None}
        assert kept == {0: 4, 1: 9}, "of several in one place the last"
        assert left.workers[1].estimate() == ClockEstimate(1_001, 7)
        left.release()
    assert link.has_ended
    assert _folders(temporary) == []
    assert fetch(RUN, search=0) is None


def test_who_is_lost_before_the_run_goes_on_leaves_all_to_the_next_one() -> None:
    link = Serving(_part(0, 4))
    for _ in range(2):
        with fetch(RUN) as left:  # type: ignore[union-attr]
            assert list(left.workers) == [0]
    assert link.is_alive()
    with fetch(RUN) as left:  # type: ignore[union-attr]
        left.release()
    assert link.has_ended


def test_it_ends_when_nobody_comes(temporary: Path) -> None:
    assert Serving(_part(0, 4), timeout=0.2).has_ended
    assert _folders(temporary) == []


def test_another_version_is_refused_and_the_next_one_still_gets_all(monkeypatch: pytest.MonkeyPatch) -> None:
    link = Serving(_part(0, 4))
    with monkeypatch.context() as other:
        versions = iter(["0.0.1", "0.0.2"])
        other.setattr(greeting, "version", lambda _: next(versions))
        with pytest.raises(UsageError, match=r"has Plimsoll 0\.0\.1, the master 0\.0\.2: install the same"):
            fetch(RUN)
    with fetch(RUN) as left:  # type: ignore[union-attr]
        left.release()
    assert link.has_ended


def test_a_process_that_was_killed_another_user_and_another_run_have_nothing(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = Serving(_part(0, 4))
    assert fetch("20261126-1430-????", search=0) is None
    with monkeypatch.context() as other:
        other.setattr(os, "getuid", lambda: 123_456)
        assert fetch(RUN, search=0) is None
    (folder,) = _folders(temporary)
    with fetch(RUN) as left:  # type: ignore[union-attr]
        left.release()
    assert link.has_ended
    folder.mkdir()
    (folder / RUN).touch()
    assert fetch(RUN, search=0) is None


def test_a_folder_with_too_long_a_name_is_one_line(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = temporary / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with pytest.raises(PlimsollError, match=r"^what the workers have measured cannot be kept at .*: AF_UNIX path"):
        HandoverServer(RUN)
    assert _folders(deep) == []
