from __future__ import annotations

import pytest

from plimsoll.locust.stats import (
    CachedResponseTimes,
    avg,
    calculate_response_time_percentile,
    diff_response_time_dicts,
    get_readable_percentiles,
    median_from_dict,
)


@pytest.mark.parametrize(("percent", "time"), [(0.0, 1), (0.5, 1), (0.51, 3), (0.9, 3), (0.91, 70), (1.0, 70)])
def test_the_rank_is_rounded_up(percent, time):
    assert calculate_response_time_percentile({70: 1, 1: 5, 3: 4}, 10, percent) == time


def test_none_and_fewer_than_were_said():
    assert calculate_response_time_percentile({}, 0, 0.5) == 0
    assert calculate_response_time_percentile({2: 1}, 100, 0.5) == 2


def test_the_median():
    assert median_from_dict(3, {1: 1, 5: 1, 100: 1}) == 5


def test_what_came_to_response_times():
    assert diff_response_time_dicts({1: 3, 2: 2, 5: 1}, {1: 1, 2: 2}) == {1: 2, 5: 1}


def test_for_people():
    shown = ["50%", "99%", "99.9%", "99.99%", "100%", "29%"]
    assert get_readable_percentiles([0.5, 0.99, 0.999, 0.9999, 1.0, 0.29]) == shown


def test_averages():
    assert (avg([1, 2]), avg([])) == (1.5, 0.0)


def test_response_times_at_a_moment():
    assert CachedResponseTimes({1: 2}, 2).num_requests == 2
