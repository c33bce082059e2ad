import pytest
from benches.nginx import Nginx
from benches.open_model import Arrivals, OpenCase, OpenCost, measure_open


@pytest.mark.parametrize("user", [None, "TrivialFast"])
def test_arrivals_are_weighed(nginx: Nginx, user: str | None) -> None:
    cost = measure_open(nginx, OpenCase(Arrivals("arrivals", 200, user)), window=1.0)
    assert 0.5 < cost.achieved < 1.5  # the machine may be busy with other things
    assert cost.cpu_us > 0
    assert cost.lag_p50_ms <= cost.lag_p99_ms <= cost.lag_max_ms


def test_what_is_not_the_worker_is_the_coordinator() -> None:
    assert OpenCost(0, 0, 0, 0, 1, cpu_us=8.0, workers_us=7.5, others_cpus=0).coordinator_us == 0.5
