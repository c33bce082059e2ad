"""Class names of Locust before 1.0."""

from __future__ import annotations

import pytest

from plimsoll.users.legacy import FastHttpLocust, HttpLocust, Locust


@pytest.mark.parametrize(
    ("old", "today"), [(Locust, "User"), (HttpLocust, "HttpUser"), (FastHttpLocust, "FastHttpUser")]
)
def test_deriving_from_one_tells_todays_name(old, today):
    with pytest.raises(ImportError, match=f"{old.__name__} class has been renamed to {today} "):
        type(old)("Mine", (old,), {})
