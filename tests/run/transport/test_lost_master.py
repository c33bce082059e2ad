from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from plimsoll.run.transport.lost_master import KEPT_S, MasterKey, forget, known_key

if TYPE_CHECKING:
    from pathlib import Path

KEY = MasterKey("*", 40123, "a token of sixteen characters")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_what_a_run_keeps_is_known_to_this_user_until_it_is_forgotten(home: Path) -> None:
    assert known_key("run-1") is None
    KEY.keep("run-1")
    assert known_key("run-1") == KEY
    path = home / ".plimsoll" / "masters" / "run-1.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert KEY.token not in repr(KEY)
    forget("run-1")
    forget("run-1")
    assert known_key("run-1") is None


def test_what_cannot_be_read_or_kept_is_not_known(home: Path) -> None:
    KEY.keep("run-1")
    path = home / ".plimsoll" / "masters" / "run-1.json"
    for text in ("", "[]", '{"host": "*"}'):
        path.write_text(text)
        assert known_key("run-1") is None
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("")
    KEY.keep("run-1")
    assert known_key("run-1") is None


def test_old_ones_are_removed(home: Path) -> None:
    KEY.keep("old")
    path = home / ".plimsoll" / "masters" / "old.json"
    os.utime(path, (0, time.time() - 2 * KEPT_S))
    KEY.keep("new")
    assert (known_key("old"), known_key("new")) == (None, KEY)
