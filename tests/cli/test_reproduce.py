"""Commands of a store that are too long to be looked at."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.cli.reproduce import LONGEST, _ask
from plimsoll.errors import UsageError
from plimsoll.store import Store


def test_a_long_command_of_a_run_is_cut(plimsoll: Any) -> None:
    with Store.open() as store:
        store.start_run({"started": 1e9, "command": "plimsoll run " + "x" * 1_000_000})
    done = plimsoll("reproduce", "--dry-run")
    assert "plimsoll run xxx" in done.stderr
    assert len(done.stderr) < 2 * LONGEST


def test_a_command_that_nobody_can_look_at_is_only_run_unseen(capsys: pytest.CaptureFixture[str]) -> None:
    cell: Any = SimpleNamespace(commands=("serve", "x" * 1_000_000), spec=SimpleNamespace(folder="/here"))
    with pytest.raises(UsageError, match=r"^a command of this cell has 1,000,000 characters: nobody can look at it"):
        _ask(cell, yes=False)
    assert capsys.readouterr().err == ""
    _ask(cell, yes=True)
