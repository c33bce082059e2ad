"""The harness itself: that it sees differences, and hides none."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.parity import case, needs, normal
from tests.parity.answers import answer
from tests.parity.case import CaseError, Run
from tests.parity.differences import ABSENT, Found, Listed, compare, load
from tests.parity.digest import grouped, parts
from tests.parity.happened import happened_facts
from tests.parity.score import Outcome, score
from tests.parity.server import Received
from tests.parity.tool import Tool

if TYPE_CHECKING:
    from pathlib import Path


def listed(run: str = "a/b", fact: str = "exit code", locust: str = "", plimsoll: str = "") -> Listed:
    return Listed(run, fact, "for this test", locust, plimsoll)


def a_run(name: str = "a/b", *options: str) -> Run:
    return Run(name, case.CASES, (), {}, frozenset(), frozenset(options))


def test_facts_differ_by_value_and_by_being_there() -> None:
    found = compare("a/b", {"one": 1, "two": 2, "same": 0}, {"one": 3, "three": 3, "same": 0})
    assert [(each.fact, each.locust, each.plimsoll) for each in found] == [
        ("one", 1, 3),
        ("three", ABSENT, 3),
        ("two", 2, ABSENT),
    ]


@pytest.mark.parametrize(
    ("entry", "explains"),
    [
        (listed(), True),
        (listed(run="a/*"), True),
        (listed(run="a/c"), False),
        (listed(fact="exit *"), True),
        (listed(fact="exit"), False),
        (listed(locust="0", plimsoll="1"), True),
        (listed(locust="2"), False),
        (listed(plimsoll="0"), False),
    ],
)
def test_an_entry_explains_what_it_names_and_nothing_else(entry: Listed, explains: bool) -> None:
    assert entry.explains(Found("a/b", "exit code", 0, 1)) is explains


def test_brackets_of_a_run_are_no_pattern() -> None:
    assert listed(run="a/b[one]").concerns("a/b[one]")
    assert not listed(run="a/b[one]").concerns("a/bo")


def test_an_entry_without_a_reason_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "differences.toml"
    path.write_text('[[difference]]\nrun = "a/b"\nfact = "exit code"\n')
    with pytest.raises(KeyError, match="reason"):
        load(path)


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Outcome]:
    """What runs come to, by name, instead of being carried out."""
    known: dict[str, Outcome] = {}
    monkeypatch.setattr("tests.parity.score.outcome_of", lambda run, _: known[run.name])
    return known


def test_the_score_adds_up(outcomes: dict[str, Outcome]) -> None:
    runs = [a_run("a/b"), a_run("a/b[two]"), a_run("c/d", "alone")]
    exit_code = Found("a/b", "exit code", 0, 1)
    other = Found("c/d", "log", [], ["x"])
    outcomes |= {
        "a/b": Outcome(runs[0], 5, [exit_code]),
        "a/b[two]": Outcome(runs[1], 4, []),
        "c/d": Outcome(runs[2], 3, [other]),
    }
    names: list[str] = []
    total = score(runs, [listed()], 1, lambda outcome: names.append(outcome.run.name), runs)
    assert str(total) == "parity: 10 of 12 facts equal in 2 files, 1 listed differences, 1 unexplained"
    assert total.unexplained == [other]
    assert not total.good
    assert names == ["a/b", "a/b[two]", "c/d"]


def test_a_listed_difference_that_is_gone_is_told_once_all_its_runs_were_there(outcomes: dict[str, Outcome]) -> None:
    runs = [a_run("a/b"), a_run("a/b[two]")]
    outcomes |= {run.name: Outcome(run, 1, []) for run in runs}
    entry = listed(run="a/b*")
    assert score(runs, [entry], 1, lambda _: None, runs).gone == [entry]
    assert not score(runs, [entry], 1, lambda _: None, runs).good
    assert score(runs[:1], [entry], 1, lambda _: None, runs).good


def test_equal_differences_are_told_together_with_the_part_that_differs() -> None:
    found = [Found("a/b", f"wire {n}", [{"headers": ["A", "B"]}], [{"headers": ["B", "A"]}]) for n in range(3)]
    ((place, (first, count, values)),) = grouped(found).items()
    assert (place[0], first.fact, count, values) == ("[0].headers", "wire 0", 3, (["A", "B"], ["B", "A"]))


def test_of_a_list_that_goes_on_the_rest_is_told() -> None:
    assert list(parts([1, 2], [1, 2, 3])) == [("[2:]", [], [3])]


def test_what_varies_is_made_equal_and_nothing_else() -> None:
    assert normal.value({"at 127.0.0.1:54321": ["<X at 0x7f00aa11bb>", 1, None]}) == {
        "at TARGET": ["<X at 0x…>", 1, None]
    }
    assert normal.text("127.0.0.1:1/refused 12:34 deadbeef") == "127.0.0.1:1/refused 12:34 deadbeef"


def happen(folder: Path, pid: int, *happenings: tuple[str, str, object]) -> None:
    (folder / f"happened.{pid}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in happenings))


def test_events_are_facts_with_their_order(tmp_path: Path) -> None:
    init = ("event", "init", {"runner": "<LocalRunner>"})
    request = ("event", "request", {"request_type": "GET", "name": "/a"})
    happen(tmp_path, 1, init, request, ("note", "seen", 1), request, ("event", "usage_monitor", {}))
    facts = happened_facts(tmp_path, ordered=True)
    assert facts["order of happenings"] == ["init", "request GET /a", "seen", "request GET /a"]
    assert facts["event request 2"] == {"request_type": "GET", "name": "/a"}
    assert facts["note seen"] == [1]
    assert facts["event usage_monitor"] == [{}]


def test_workers_are_compared_as_a_set(tmp_path: Path) -> None:
    init = ("event", "init", {"runner": "<WorkerRunner>"})
    happen(tmp_path, 1, init, ("note", "index", 1))
    happen(tmp_path, 2, init, ("note", "index", 0))
    assert happened_facts(tmp_path, ordered=False)["note index (worker)"] == [0, 1]


def test_a_case_says_how_it_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = tmp_path / "group"
    group.mkdir()
    path = group / "one.py"
    path.write_text("# run: -u 1\n# run two: --text 'a b'\n# env: A=1\n# compare: log\n# option: bare csv\n")
    monkeypatch.setattr(case, "CASES", tmp_path)
    first, second = case.all_runs()
    assert (first.name, first.arguments) == ("group/one", ("-u", "1"))
    assert (second.name, second.arguments, second.file) == ("group/one[two]", ("--text", "a b"), "group/one")
    assert (first.env, first.compare, first.options) == ({"A": "1"}, {"log"}, {"bare", "csv"})
    path.write_text("# option: quick\n")
    with pytest.raises(CaseError, match="knows no quick"):
        case.all_runs()


def test_the_target_answers_as_its_paths_say() -> None:
    def ask(method: str, target: str) -> bytes:
        return answer(Received(method, target, (), b"", 1)).data

    assert ask("GET", "/anything").endswith(b"\r\n\r\nhello")
    assert ask("HEAD", "/anything").endswith(b"Content-Length: 5\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n")
    assert ask("GET", "/status/404").startswith(b"HTTP/1.1 404 Not Found\r\n")
    assert b"Location: /redirect/1\r\n" in ask("GET", "/redirect/2")


def test_a_run_needs_programs_or_modules_of_both_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, modules in (("one", "in_both"), ("other", "in_both in_one")):
        (tmp_path / name).mkdir()
        python = tmp_path / name / "python"
        python.write_text(f'#!/bin/sh\nfor each in {modules}; do [ "$3" = "$each" ] && exit 0; done; exit 1\n')
        python.chmod(0o755)
    tools = tuple(Tool(name, (), (str(tmp_path / name / "tool"),)) for name in ("one", "other"))
    monkeypatch.setattr(needs, "TOOLS", tools)
    run = replace(a_run(), needs=("sh", "in_both", "in_one", "no-such-server"))
    assert needs.missing(run) == ["in_one", "no-such-server"]
