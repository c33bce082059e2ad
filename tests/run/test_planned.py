from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from plimsoll.run.options.command import read_words
from plimsoll.run.planned import PlannedRun
from plimsoll.run.planning import planned_run, read_source

if TYPE_CHECKING:
    from pathlib import Path


def test_another_process_takes_the_same_run_once_and_no_other_user_can_read_it(tmp_path: Path) -> None:
    words = read_words(
        ["http://127.0.0.1:1/", "--rate", "9/s", "-t", "3s", "--header", "Authorization: secret", "--body", "ä",
         "--threshold", "p99 < 1s"]
    )  # fmt: skip
    run = planned_run(words, read_source(words.arguments, words.given), {"seed": 5, "headless": True})
    file = tmp_path / "run.json"
    run.write(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    taken = PlannedRun.take(file)
    assert taken.plan.to_dict() == run.plan.to_dict() | {"options": taken.plan.options}
    assert taken.plan.options == run.plan.options
    assert taken.outputs == run.outputs
    assert not file.exists()
