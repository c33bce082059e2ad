import json
from pathlib import Path

import pytest
from benches import grpc
from benches.cases import OPEN, PLIMSOLL_LOGGED, PLIMSOLL_TRIVIAL, PLIMSOLL_URL, SCALE, groups, open_cases, scale_cases
from benches.cost import Case
from benches.open_model import Arrivals
from benches.scale import Paced
from benches.subjects import Load, PlimsollRun, Subject
from tests.benches.conftest import measured

CASES = [case for cases in groups(quick=False).values() for case in cases]


@pytest.mark.parametrize("subject", [PLIMSOLL_URL, PLIMSOLL_TRIVIAL[0]], ids=lambda subject: subject.name)
def test_plimsolls_own_count_is_nginxs(subject: PlimsollRun) -> None:
    cost = measured(Case(subject, "/small", 4))
    assert 0 < cost.workers_us <= cost.cpu_us * 1.000001  # differences of sums of floats


@pytest.mark.parametrize("subject", [grpc.Posts(), grpc.Calls()], ids=lambda subject: subject.name)
def test_calls_are_counted_and_none_fails(subject: PlimsollRun) -> None:
    measured(Case(subject, grpc.PATH, 2, streams=3))


def test_a_call_and_a_post_send_the_same_message(tmp_path: Path) -> None:
    load = Load("http://127.0.0.1:8765", grpc.PATH, 2, 9, tmp_path, streams=3)
    assert grpc.Posts().command(load)[grpc.Posts().command(load).index("-d") + 1] == f"@{tmp_path / 'message'}"
    assert (tmp_path / "message").read_bytes() == grpc.body(grpc.MESSAGE)
    line = grpc.Calls().command(load)
    assert line[line.index("-d") + 1] == json.dumps(grpc.MESSAGE)
    assert "grpc://127.0.0.1:8765/bench.Bench/Call" in line
    assert len(grpc.reply()) == grpc.REPLY_BYTES


@pytest.mark.parametrize(
    "subject", list(dict.fromkeys(case.subject for case in CASES)), ids=lambda subject: subject.name
)
def test_a_command_line_names_the_load(subject: Subject, tmp_path: Path) -> None:
    line = " ".join(subject.command(Load("http://127.0.0.1:8765", "/small", 50, 9, tmp_path, streams=1)))
    assert "127.0.0.1:8765" in line
    assert "50" in line
    assert "9" in line


def test_names_are_unique_for_they_are_the_keys_of_the_results() -> None:
    subjects = {case.subject for case in CASES}
    assert len({subject.name for subject in subjects}) == len(subjects)


@pytest.mark.parametrize(
    "subject",
    [*(case.subject for case in OPEN), *dict.fromkeys(case.subject for case in SCALE)],
    ids=lambda subject: subject.name,
)
def test_a_run_that_is_invalid_by_our_doing_is_no_failure(subject: Arrivals | Paced, tmp_path: Path) -> None:
    line = subject.command(Load("http://127.0.0.1:8765", "/small", 50, 9, tmp_path))
    assert line[line.index("--exit-code-on-invalid") + 1] == "0"
    assert line[line.index("-t") + 1] == "9s"
    assert str(tmp_path / "run.json") in line


def test_only_the_logged_one_keeps_exchanges(tmp_path: Path) -> None:
    load = Load("http://127.0.0.1:8765", "/small", 50, 9, tmp_path)
    logged = [
        case.subject for case in groups(quick=True)["small replies"] if "--log-exchanges" in case.subject.command(load)
    ]
    assert logged == [PLIMSOLL_LOGGED]


def test_quick_is_one_rate_and_no_crowd() -> None:
    assert [case.subject.rate for case in open_cases(quick=True)] == [50_000]
    assert scale_cases(quick=True) == []
    assert len({(case.subject.name, case.subject.rate) for case in open_cases(quick=False)}) == len(OPEN)
    assert len({(case.subject.name, case.users) for case in scale_cases(quick=False)}) == len(SCALE)
