from __future__ import annotations

from benches.coordinator import PARTS, _cost


def test_the_cost_of_a_few_workers_is_measured_by_part() -> None:
    cost = _cost(workers=3, endpoints=2, seconds=2)
    assert tuple(cost) == PARTS
    assert all(share > 0 for share in cost.values())
