"""`plimsoll export` as it is typed. What is in the files is asked in tests/report/render/test_run_formats.py."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.formats import of_runs
from plimsoll.report.sources import RunSource
from plimsoll.say.validity import check_texts
from plimsoll.store import Store

FORMATS = ("hgrm", "hlog", "csv", "json", "parquet")


def test_every_format_of_a_run_can_be_exported(plimsoll, stored_run_ids):
    for format in of_runs():
        assert plimsoll("export", stored_run_ids[0], "--format", format, "-o", "out").exit_code == 0
        assert Path("out").stat().st_size > 0


@pytest.mark.parametrize("format", FORMATS)
def test_the_file_is_named_after_the_run_unless_told(plimsoll, stored_run_ids, format):
    result = plimsoll("export", stored_run_ids[0], "--format", format)
    assert (result.exit_code, result.stdout) == (0, f"{stored_run_ids[0]}.{format}\n")
    assert Path(result.stdout.strip()).stat().st_size > 0
    result = plimsoll("export", "--format", format, "-o", "out")
    assert (result.exit_code, result.stdout) == (0, "out\n")


@pytest.mark.parametrize("format", FORMATS)
def test_a_hyphen_is_the_standard_output(plimsoll, stored_run_ids, format):
    plimsoll("export", "--format", format, "-o", "out")
    result = plimsoll("export", "--format", format, "-o", "-")
    assert result.exit_code == 0
    assert len(result.stdout_bytes) == Path("out").stat().st_size
    assert not Path("-").exists()


def test_the_last_run_is_the_default_and_the_beginning_of_an_id_will_do(plimsoll, stored_run_ids):
    for reference, run in (
        ((), stored_run_ids[1]),
        (("last",), stored_run_ids[1]),
        (("20261120-1200",), stored_run_ids[0]),
    ):
        assert plimsoll("export", *reference, "--format", "json", "-o", "out.json").exit_code == 0
        document = json.loads(Path("out.json").read_text())
        assert document["run"] == run
        assert sum(each["count"] for each in document["intervals"]) == 20


def test_a_file_that_is_there_is_replaced(plimsoll, stored_run_ids):
    Path("out").write_text("x" * 1_000_000)
    assert plimsoll("export", "--format", "csv", "-o", "out").exit_code == 0
    assert Path("out").stat().st_size < 10_000


def test_reasons_to_doubt_the_run_are_said(plimsoll, make_interval, make_health):
    with Store.open() as store:
        writer = store.start_run(Manifest(started=1_795_176_000.0, model="open", users_kind="native"))
        health = make_health(0)
        health.offered, health.dropped = 20, 10
        dropped = make_interval(outcome="dropped", untimed=10)
        writer.commit([make_interval([1.0] * 10), dropped], [health])
        writer.finish("finished", 1_795_176_001.0)
    result = plimsoll("export", "--format", "parquet", "-o", "out")
    assert result.exit_code == 0
    assert result.stdout == "out\n"
    assert result.stderr.startswith("plimsoll: INVALID: ")
    assert "dropped" in result.stderr
    assert pyarrow.parquet.read_table("out")["invalid"][0].as_py() in result.stderr.replace(
        "\nplimsoll: INVALID: ", "; "
    )


def test_csv_has_the_doubts_in_each_line(plimsoll, make_interval, make_health):
    with Store.open() as store:
        writer = store.start_run(Manifest(started=1_795_176_000.0, users_kind="native", warmup=1.5))
        for second in range(4):
            writer.commit([make_interval([1.0] * 10, second=second, name="/a\0b")], [make_health(second)])
        writer.finish("finished", 1_795_176_004.0, facts=RunFacts.from_json({"lost_workers": 1}))
        doubts = check_texts(RunSource.of(store.run("last")).assessment.validity.failed)
    assert doubts
    assert plimsoll("export", "--format", "csv", "-o", "out").exit_code == 0
    rows = list(csv.DictReader(Path("out").read_text().splitlines()))
    assert [(row["second"], row["name"], row["invalid"]) for row in rows] == [
        (second, "/a\ufffdb", "; ".join(doubts)) for second in ("2", "3")
    ]


def test_numpy_starts_no_threads_for_it(plimsoll, stored_run_ids):
    # The thread that watches for signals ends shortly after the command. Threads of numpy would never end.
    code = """if True:
        import os, sys, time
        from plimsoll.cli import main
        sys.argv[0] = "plimsoll"
        main(standalone_mode=False)
        limit = time.monotonic() + 20
        while (threads := len(os.listdir("/proc/self/task"))) > 1 and time.monotonic() < limit:
            time.sleep(0.01)
        print("numpy" in sys.modules, threads)
    """
    command = [sys.executable, "-c", code, "report", "last", "--format", "html", "-o", "out"]
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert printed == "out\nTrue 1\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--format", "csv", "-o", "plimsoll.db/x"), "cannot write plimsoll.db/x: Not a directory\n"),
        (("--format", "parquet", "-o", "plimsoll.db/x"), "cannot write plimsoll.db/x: Not a directory\n"),
        (("--format", "hlog", "-o", "."), "cannot write .: Is a directory\n"),
        (("2020", "--format", "csv"), "has no run '2020'; `plimsoll runs` lists them\n"),
        (("--format", "xls"), "'xls' is not one of 'html', 'tables',"),
        ((), "missing option '--format'"),
        (("--store", "other.db", "--format", "csv"), "other.db; `plimsoll run` makes one, --store names another\n"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(plimsoll, stored_run_ids, arguments, message):
    result = plimsoll("export", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("plimsoll: ")
    assert message in result.stderr
    if "--format" in arguments:
        assert result.stderr.count("\n") == 1


def test_without_pyarrow_it_is_said_what_to_install(plimsoll, stored_run_ids, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = plimsoll("export", "--format", "parquet")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "plimsoll: Parquet needs pyarrow: pip install 'plimsoll-lab[parquet]'\n"
    assert not list(Path().glob("*.parquet"))
