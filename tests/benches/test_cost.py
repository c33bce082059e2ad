import pytest
from benches.cost import Case, check_count, measure
from benches.errors import BenchError
from benches.nginx import Nginx
from benches.subjects import Wrk


def test_wrk_is_weighed_and_its_count_is_nginxs(nginx: Nginx) -> None:
    if Wrk().missing():
        pytest.skip("wrk is not installed")
    cost = measure(nginx, Case(Wrk(), "/small", 4), window=0.5)
    assert cost.cpu_us > 0
    assert cost.requests_per_second > 100
    assert 0 < cost.peak_mb < 1000


@pytest.mark.parametrize("received", [1000, 1025, 1050])
def test_requests_under_way_at_the_end_are_no_contradiction(received: int) -> None:
    check_count("wrk", reported=1000, received=received, under_way=50)


@pytest.mark.parametrize("received", [999, 1051])
def test_a_count_that_is_not_nginxs_is_an_error(received: int) -> None:
    with pytest.raises(BenchError, match=f"wrk reported 1000 requests, the server received {received}"):
        check_count("wrk", reported=1000, received=received, under_way=50)
