import sys

import pytest
from benches.cost import Case, Weighing, check_count
from benches.errors import BenchError
from benches.nginx import Nginx
from benches.process import Measured
from benches.subjects import Wrk
from tests.benches.conftest import measured


def test_wrk_is_weighed_and_its_count_is_nginxs() -> None:
    cost = measured(Case(Wrk(), "/small", 4))
    assert cost.cpu_us > 0
    assert cost.requests_per_second > 100
    assert 0 < cost.peak_mb < 1000


def test_users_that_are_missing_at_either_end_of_a_window_are_an_error(nginx: Nginx) -> None:
    with Measured([sys.executable, "-c", "import time; time.sleep(600)"], {}) as idle:
        with pytest.raises(BenchError, match="only 0 of 5 users are connected"):
            Weighing(nginx, idle, users=5)
        with pytest.raises(BenchError, match="no requests within the window"):
            Weighing(nginx, idle, users=0).end()


@pytest.mark.parametrize("received", [1000, 1025, 1050])
def test_requests_under_way_at_the_end_are_no_contradiction(received: int) -> None:
    check_count("wrk", reported=1000, received=received, under_way=50)


@pytest.mark.parametrize("received", [999, 1051])
def test_a_count_that_is_not_nginxs_is_an_error(received: int) -> None:
    with pytest.raises(BenchError, match=f"wrk reported 1000 requests, the server received {received}"):
        check_count("wrk", reported=1000, received=received, under_way=50)
