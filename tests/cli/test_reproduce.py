"""What `plimsoll reproduce` shows, asks, leaves out and refuses."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.cli.parts import common
from plimsoll.cli.reproduce import LONGEST, MOST, _ask, effect_lines
from plimsoll.errors import UsageError
from plimsoll.experiment.reproduction.effects import Doing, Effect
from plimsoll.load.url import url_scenario
from plimsoll.record.manifest import Manifest
from plimsoll.run.plan import RunPlan
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "http://127.0.0.1:9/"
LOCUSTFILE = "from locust import User, task\nclass A(User):\n    @task\n    def a(self):\n        pass\n"
UNASKED = "plimsoll: nobody can be asked here whether this may be done; --yes does it"


@pytest.fixture
def kept() -> Callable[..., str]:
    """Stores a run with this plan, and what else its manifest has; its id."""

    def keep(plan: RunPlan, **manifest: Any) -> str:
        with Store.open() as store:
            writer = store.start_run(Manifest.from_json({"started": 1e9, "plan": plan.to_dict(), **manifest}))
            writer.finish("finished", 1e9 + 1)
            return writer.id

    return keep


def of_url(**values: Any) -> RunPlan:
    return RunPlan(**{"scenario": url_scenario(URL), "source": URL, "run_time": 1.0, **values})


def shown(done: Any) -> list[str]:
    return [" ".join(line.split()) for line in done.stderr.splitlines()]


def test_all_of_it_is_shown_and_without_a_terminal_nothing_is_done(plimsoll, kept, tmp_path) -> None:
    run = kept(of_url(users=3, processes=2))
    done = plimsoll("reproduce", run, "--html", "r.html", "--csv", "c", "--observe", "otlp:0")
    assert done.exit_code == 2, done.output
    lines = shown(done)
    assert lines[lines.index("to run it again does this:") + 1 : -1] == [
        "runs 2 worker processes of Plimsoll",
        "writes plimsoll.db (the store: the new run)",
        "r.html",
        "c_*.csv",
        "listens at otlp:0",
        "sends load to http://127.0.0.1:9: 3 users, 1 s",
    ]
    assert lines[-1] == UNASKED
    assert {each.name for each in tmp_path.iterdir()} == {"plimsoll.db"}


def test_a_dry_run_asks_nothing(plimsoll, kept) -> None:
    done = plimsoll("reproduce", kept(of_url()), "--dry-run")
    assert (done.exit_code, done.stdout) == (0, ""), done.output
    assert UNASKED not in done.stderr


def test_outputs_of_the_store_are_left_out_and_named(plimsoll, kept, tmp_path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("precious")
    words = ("plimsoll", "run", URL, f"--html={precious}", "--csv", str(precious), "--observe", "otlp:0.0.0.0:0")
    plan = of_url(command=words, logfile=str(precious), options=(("html_file", str(precious)),), log_exchanges=True)
    done = plimsoll("reproduce", kept(plan), "--yes")
    assert done.exit_code in (0, 1, 3), done.output
    assert "left out, as only this command line names outputs: --observe, --csv, --html, --logfile" in done.stderr
    assert precious.read_text() == "precious"
    with Store.open() as store:
        again = store.run("last").manifest.to_json()
    assert again["plan"]["logfile"] is None
    assert again["plan"]["options"] == [["html_file", None]]
    assert str(precious) not in str(again), "the command that it keeps is the one that was typed"


def test_outputs_of_the_command_line_are_written(plimsoll, kept, tmp_path) -> None:
    done = plimsoll("reproduce", kept(of_url()), "--yes", "--summary", "s.json", "--csv", "c")
    assert done.exit_code in (0, 1, 3), done.output
    assert (tmp_path / "s.json").is_file() and (tmp_path / "c_stats.csv").is_file()


@pytest.mark.parametrize("named", ["elsewhere/evil.py", "work/link.py"])
def test_a_locustfile_outside_of_the_working_folder_is_refused(plimsoll, kept, tmp_path, monkeypatch, named) -> None:
    for each in ("elsewhere", "work"):
        (tmp_path / each).mkdir()
    evil = tmp_path / "elsewhere" / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\n{LOCUSTFILE}")
    (tmp_path / "work" / "link.py").symlink_to(evil)
    monkeypatch.chdir(tmp_path / "work")
    run = kept(RunPlan(locustfiles=(str(tmp_path / named),), run_time=0.1))
    done = plimsoll("reproduce", run, "--yes")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(
        f"plimsoll: the store names {tmp_path / named}, which is outside of the working folder"
    )
    assert "or name the file of the run with --file FILE" in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "imported").exists()
    done = plimsoll("reproduce", run, "--yes", "-f", str(evil))
    assert "imports" in done.stderr and (tmp_path / "imported").exists(), done.stderr


@pytest.mark.parametrize("same", [True, False])
def test_it_says_whether_the_locustfile_is_what_it_was(plimsoll, kept, tmp_path, same) -> None:
    file = tmp_path / "users.py"
    file.write_text(LOCUSTFILE)
    digest = hashlib.sha256(file.read_bytes() if same else b"").hexdigest()
    scenario = {"name": "users.py", "files": [{"path": str(file), "sha256": digest}]}
    done = plimsoll("reproduce", kept(RunPlan(locustfiles=(str(file),), run_time=1.0), scenario=scenario), "--dry-run")
    (line,) = (each for each in shown(done) if each.startswith("imports"))
    assert line.startswith(
        "imports users.py (as it was then)" if same else "imports users.py (CHANGED: then e3b0c44298fc"
    )


def test_what_a_plan_names_is_shown_and_must_be_below_the_working_folder(plimsoll, kept, tmp_path, monkeypatch) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (work / "rows.csv").write_text("a\n1\n")
    text = f'target = "{URL}"\n[feeder.f]\nfile = "{{}}"\n[[request]]\nget = "/${{{{f.a}}}}"\n'
    (work / "plan.toml").write_text(text.format("rows.csv"))
    monkeypatch.chdir(work)
    run = kept(of_url(source=str(work / "plan.toml")))
    done = plimsoll("reproduce", run, "--dry-run")
    assert "reads plan.toml (the store does not have its digest)" in shown(done) and "rows.csv" in shown(done), (
        done.output
    )
    (work / "plan.toml").write_text(text.format("../secret.csv"))
    done = plimsoll("reproduce", run, "--dry-run")
    assert done.exit_code == 2 and "secret.csv, which is outside of the working folder" in done.stderr, done.output


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"users": 2**70}, "users: "),
        ({"processes": 0}, "processes = 0"),
        ({"loglevel": "LOUD"}, "loglevel: "),
        ({"source_addresses": ("x",)}, "'x' does not appear to be an IPv4 or IPv6 address"),
        ({"ship": (1,)}, "validation error"),
        ({"identify": "a\r\nb"}, "--identify"),
        ({"scenario": {"targets": [], "flows": []}}, "not one that Plimsoll wrote"),
        ({"scenario": None, "source": None}, "neither a locustfile nor a scenario"),
        ({"joined": True}, "joined by themselves"),
    ],
)
def test_values_that_no_plimsoll_wrote_are_refused(plimsoll, kept, values, said) -> None:
    done = plimsoll("reproduce", kept(of_url(**values)), "--yes")
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_lines_stand_in_groups_and_long_ones_are_cut_and_counted() -> None:
    effects = [
        Effect(Doing.SENDS, "there"), Effect(Doing.RUNS, "make\n\x1b it"), Effect(Doing.RUNS, "x" * (LONGEST + 1)),
        *(Effect(Doing.READS, f"file {number}") for number in range(MOST + 2)),
    ]  # fmt: skip
    lines = list(effect_lines(effects))
    assert lines[0] == "  runs           make \ufffd it"
    assert lines[1].startswith("                 xxx") and lines[1].endswith("x… (4,001 characters)")
    assert lines[2:4] == ["  reads          file 0", "                 file 1"]
    assert lines[-2:] == ["                 … and 2 more", "  sends load to  there"]


@pytest.mark.parametrize(
    ("effects", "said"),
    [
        ([Effect(Doing.RUNS, "x" * 1_000_000)], "a line of 1,000,000 characters: nobody can look at that"),
        (
            [Effect(Doing.SETS, str(number)) for number in range(MOST + 1)],
            "51 lines of one kind: nobody can look at that",
        ),
    ],
)
def test_what_nobody_can_look_at_is_only_done_unseen(effects, said) -> None:
    with pytest.raises(UsageError, match=said):
        _ask(effects, yes=False)
    _ask(effects, yes=True)


def test_secrets_are_shown_only_where_somebody_is_asked(monkeypatch) -> None:
    effects = [Effect(Doing.SETS, "DB_PASSWORD=hunter2")]
    assert "hunter2" not in "".join(effect_lines(effects))
    monkeypatch.setattr("plimsoll.cli.reproduce.on_a_terminal", lambda: True)
    assert "hunter2" in "".join(effect_lines(effects))


def test_a_no_does_nothing(plimsoll, kept, monkeypatch) -> None:
    run = kept(of_url())
    for each in (common, sys.modules["plimsoll.cli.reproduce"]):
        monkeypatch.setattr(each, "on_a_terminal", lambda: True)
    done = plimsoll("reproduce", run)
    assert done.exit_code != 0 and "do this? [y/N]" in done.output
    with Store.open() as store:
        assert store.run("last").id == run


def test_a_file_that_does_not_fit_is_refused(plimsoll, kept, tmp_path) -> None:
    run = kept(of_url())
    (tmp_path / "users.py").write_text(LOCUSTFILE)
    assert "there is no such file" in plimsoll("reproduce", run, "-f", "none.py").stderr
    assert "was made without a locustfile" in plimsoll("reproduce", run, "-f", "users.py").stderr
    assert Path("users.py").is_file()
