"""The comparison of two versions. Here both are this one."""

import re
from pathlib import Path

import pytest
from benches import versions
from benches.cases import PLIMSOLL_URL
from benches.cost import Case, Cost
from benches.errors import BenchError
from benches.nginx import Nginx, running_nginx
from benches.subjects import NATIVE, PLIMSOLL, Version

ROOT = Path(__file__).parents[2]


def cost(cpu_us: float, workers_us: float = 0.0) -> Cost:
    return Cost(cpu_us, workers_us, requests_per_second=1000.0, peak_mb=9.0, others_cpus=0.0)


def test_both_send_at_once_and_each_has_its_own_figures(nginx: Nginx) -> None:
    case = Case(PLIMSOLL_URL, "/small", 4)
    with running_nginx() as other:
        pair = versions.measure((nginx, other), case, (Version(), Version()), window=1.0, turn=1)
        counts = nginx.status().requests, other.status().requests
    assert all(min(each.cpu_us, each.workers_us, each.requests_per_second) > 0 for each in pair)
    assert pair[0] != pair[1]
    assert min(counts) > 20


def test_the_ratio_is_the_new_ones_with_its_interval() -> None:
    text = versions.render(Case(PLIMSOLL_URL, "/small", 50), [(cost(10.0), cost(8.0)), (cost(20.0), cost(16.0))])
    assert re.search(r"\| CPU per request +\| +15\.00 \| +12\.00 \| ×0\.800 \[0\.800, 0\.800\] \|", text)
    assert "workers" not in text


def test_workers_have_a_row_of_their_own() -> None:
    text = versions.render(Case(PLIMSOLL_URL, "/small", 50), [(cost(10.0, 9.0), cost(10.0, 4.5))])
    assert "| of it workers " in text and "×0.500 [0.000, inf]" in text


def test_a_checkout_has_its_own_programs() -> None:
    version = Version.at(ROOT)
    assert version.plimsoll.samefile(PLIMSOLL)
    assert version.native == NATIVE


def test_a_folder_without_an_installation_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"neither \.venv/bin/plimsoll nor bin/plimsoll is in it \(make setup"):
        Version.at(tmp_path)
