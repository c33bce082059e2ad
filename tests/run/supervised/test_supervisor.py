from __future__ import annotations

import os
from typing import TYPE_CHECKING

from plimsoll.run.supervised import supervisor

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_descendants_are_found_however_far_down() -> None:
    parents = {2: 1, 3: 2, 4: 3, 5: 1, 6: 5, 7: 99}
    assert supervisor.descendants(2, parents) == {3, 4}
    assert supervisor.descendants(1, parents) == {2, 3, 4, 5, 6}
    assert supervisor.descendants(4, parents) == set()


def test_this_process_is_known_by_its_parent() -> None:
    parents = supervisor.parents_by_pid()
    assert parents is None or parents[os.getpid()] == os.getppid()


def test_a_log_that_is_too_long_is_cut_down_to_its_last_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "LONGEST_LOG", 1000)
    monkeypatch.setattr(supervisor, "KEPT_OF_LOG", 95)
    path = tmp_path / "log"
    log = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        lines = [f"line {number:04}\n" for number in range(100)]
        os.write(log, "".join(lines).encode())
        supervisor.shorten(log)
        assert path.read_text() == "".join(lines), "1000 bytes are not too many"
        os.write(log, b"line 0100\n")
        supervisor.shorten(log)
        os.write(log, b"line 0101\n")
    finally:
        os.close(log)
    kept = path.read_text().splitlines()
    assert kept[0] == "[earlier lines are left out]"
    assert kept[1:] == [f"line {number:04}" for number in range(92, 102)]
