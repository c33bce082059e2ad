from __future__ import annotations

import pytest
from click.testing import CliRunner

from plimsoll.cli import main
from plimsoll.record import Failure
from plimsoll.record.manifest import Manifest
from plimsoll.store import Store

NOON = 1_795_176_000.0  # 2026-11-20 12:00 UTC


@pytest.fixture
def plimsoll(tmp_path, monkeypatch):
    """Runs the command in an empty directory on a terminal of 100 columns: plimsoll("runs", "--json")."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PLIMSOLL_STORE", raising=False)
    monkeypatch.setenv("COLUMNS", "100")

    def invoke(*arguments: str):
        return CliRunner().invoke(main, list(arguments), prog_name="plimsoll")

    return invoke


@pytest.fixture
def stored_run_ids(plimsoll, make_interval, make_health):
    """Two runs in the default store; their ids, the earlier first."""
    ids = []
    with Store.open() as store:
        for number in range(2):
            manifest = {"started": NOON + 60 * number, "users": 5, "scenario": {"name": "locustfile.py"}}
            writer = store.start_run(Manifest.from_json({**manifest, "host": "http://ann:s3cret@127.0.0.1"}))
            failures = [Failure("GET", "/", "http", "500 Server Error", 1, NOON, NOON)]
            for second in range(2):
                intervals = [
                    make_interval([10.0] * 9, second=second),
                    make_interval([5.0], second=second, outcome="http"),
                ]
                writer.commit(intervals, [make_health(second, users=5, delay_us=[3])], failures)
            if number == 0:
                writer.finish("finished", NOON + 2, ["a note"])
            ids.append(writer.id)
    return ids
