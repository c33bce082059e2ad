from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import UsageError
from plimsoll.load.shapes.plain import read_times


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "times.txt"


@pytest.mark.parametrize(
    "text",
    [
        "5\n5.5\n7\n",
        "# a log\n\n  5\n5.50\n   # more\n7e0",
        "1767225600\n1767225600.5\n1767225602\n",
        "1767225600000\n1767225600500\n1767225602000\n",
        "1767225600000000\n1767225600500000\n1767225602000000\n",
        "1767225600000000000\n1767225600500000000\n1767225602000000000\n",
        "2026-01-01T00:00:00Z\n2026-01-01T01:00:00.5+01:00\n2026-01-01 00:00:02Z\n",
        "1969-12-31T23:59:59.75Z\n1970-01-01T00:00:00.25Z\n1970-01-01T00:00:01.75Z\n",
    ],
)
def test_every_notation_counts_from_the_first(file: Path, text: str) -> None:
    file.write_text(text)
    assert read_times(file) == (0.0, 0.5, 2.0)


def test_nanoseconds_are_kept_and_the_order_too(file: Path) -> None:
    file.write_text("1767225600000000007\n1767225600000000000\n1767225600000000001\n")
    assert read_times(file) == (7e-9, 0.0, 1e-9)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1\n2\nthree\n", ':3: "three" is not a time'),
        ("1\n-2\n", ":2: "),
        ("1\nnan\n", ":2: "),
        ("1\n20260101\n\n1767225600000\n", ":4: .* looks like Unix ms, the lines before like seconds"),
        ("2026-01-01T00:00:00Z\n5\n", ":2: .* looks like seconds, the lines before like RFC 3339"),
        ("2026-01-01T00:00:00\n", ":1: .* does not say where; add Z"),
        ("20260101T000000Z\n", ":1: .* is not a time"),
        ("# nothing\n\n", "has no times"),
    ],
)
def test_what_is_no_time_is_refused_with_its_line(file: Path, text: str, reason: str) -> None:
    file.write_text(text)
    with pytest.raises(UsageError, match=reason) as refused:
        read_times(file)
    assert str(refused.value).startswith(str(file))


@given(times=st.lists(st.integers(10**17, 2 * 10**18), min_size=1, max_size=20))
def test_no_nanosecond_is_lost(tmp_path_factory: pytest.TempPathFactory, times: list[int]) -> None:
    file = tmp_path_factory.mktemp("replay") / "times"
    file.write_text("\n".join(map(str, times)))
    first = min(times)
    assert read_times(file) == tuple((time - first) / 1_000_000_000 for time in times)
