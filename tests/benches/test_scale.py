import pytest
from benches import scale
from benches.nginx import program
from benches.scale import RATE, Paced, ScaleCase, measure_scale, wait

pytestmark = pytest.mark.long


def test_users_that_come_at_the_rate_and_wait_for_all_others_keep_the_rate() -> None:
    users = 10_000
    seconds = wait(users)
    begun = [number / RATE for number in range(users)]
    due = sorted(start + turn * seconds for start in begun for turn in range(3))
    assert all(abs(later - due[0] - place / RATE) < 1e-6 for place, later in enumerate(due))


@pytest.mark.exhaustive
@pytest.mark.parametrize("user", ["PacedHttp", "PacedFast", None])
def test_users_are_counted_and_weighed(user: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if program() is None:
        pytest.skip("nginx is not installed")
    monkeypatch.setattr(scale, "RATE", 200)
    monkeypatch.setattr(scale, "FEW", 20)
    cost = measure_scale(ScaleCase(Paced("paced", user), 300), window=3.0)
    assert (cost.errors, cost.sources) == (0, 1)
    assert 1 < cost.requests_per_second < 1_000
    assert 10 < cost.resident_mb < 1_000
    assert cost.cpu_us > 0
