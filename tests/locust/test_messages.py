"""What a message can carry."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.locust.messages import decode, encode

KEYS = st.text() | st.integers(-(2**31), 2**31)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=10,
)


@given(PLAIN)
def test_plain_values_arrive_as_they_were(data):
    assert decode(encode(data)) == data


@pytest.mark.parametrize("moment", [datetime(2026, 1, 2, 3, 4, 5, 678), datetime(2026, 1, 2, tzinfo=UTC)])
def test_a_datetime_arrives_as_one(moment):
    assert decode(encode({"at": [moment]})) == {"at": [moment]}


def test_a_tuple_arrives_as_a_list():
    assert decode(encode(("a", (1, 2)))) == ["a", [1, 2]]


@pytest.mark.parametrize(
    ("data", "name"), [({1, 2}, "set"), ([object()], "object"), ({"f": print}, "builtin_function")]
)
def test_what_cannot_travel_is_refused_by_name(data, name):
    with pytest.raises(TypeError, match=f"a message cannot carry a {name}"):
        encode(data)
