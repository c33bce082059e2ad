from pathlib import Path

import pytest
from benches.cases import PLIMSOLL_TRIVIAL, PLIMSOLL_URL, cases
from benches.cost import Case, measure
from benches.nginx import Nginx
from benches.subjects import Load, PlimsollRun, Subject


@pytest.mark.parametrize("subject", [PLIMSOLL_URL, PLIMSOLL_TRIVIAL[0]], ids=lambda subject: subject.name)
def test_plimsolls_own_count_is_nginxs(nginx: Nginx, subject: PlimsollRun) -> None:
    cost = measure(nginx, Case(subject, "/small", 4), window=0.5)
    assert 0 < cost.workers_us <= cost.cpu_us * 1.000001  # differences of sums of floats


@pytest.mark.parametrize("subject", {case.subject for case in cases(quick=False)}, ids=lambda subject: subject.name)
def test_a_command_line_names_the_load(subject: Subject, tmp_path: Path) -> None:
    line = " ".join(subject.command(Load("http://127.0.0.1:8765", "/small", 50, 9, tmp_path)))
    assert "http://127.0.0.1:8765" in line
    assert "50" in line
    assert "9" in line


def test_names_are_unique_for_they_are_the_keys_of_the_results() -> None:
    subjects = {case.subject for case in cases(quick=False)}
    assert len({subject.name for subject in subjects}) == len(subjects)
