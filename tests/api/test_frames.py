from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from plimsoll import api


def test_every_table_has_a_column_for_each_value(stored: api.RunStore) -> None:
    after, before = stored.runs()
    for table in (stored.runs(), after.rows(), after.seconds(), after.compare(before).verdicts):
        columns = table.columns()
        assert {len(values) for values in columns.values()} == {len(table)}
        for name, values in columns.items():
            kinds = {type(value) for value in values} - {type(None)}
            assert kinds <= {table.layout.types[name]} | ({int} if table.layout.types[name] is float else set()), name


def test_an_arrow_table_has_the_values_types_and_the_run(stored: api.RunStore) -> None:
    run = stored.run()
    table = run.seconds().to_arrow()
    assert table.column("requests").to_pylist() == [80, 40, 40, 80, 40, 40]
    assert table.column("users").to_pylist() == [5, None, None, 5, None, None]
    assert str(table.schema.field("response_p99_ms").type) == "double"
    assert table.schema.metadata[b"plimsoll.run"].decode() == run.id


def test_a_pandas_frame_has_the_same(stored: api.RunStore) -> None:
    after, before = stored.runs()
    frame = after.rows().to_pandas().set_index("name")
    assert frame.loc["/b", "response_p50_ms"] == pytest.approx(20, rel=0.01)
    assert frame.loc["/a", "fail_ratio"] == 0.025
    assert frame.attrs["plimsoll.run"] == after.id
    assert list(stored.runs().to_pandas()["requests"]) == [160, 160]
    assert after.compare(before).verdicts.to_pandas()["ratio"].max() == pytest.approx(2, rel=0.01)
    assert "<table" in (after.rows()._repr_html_() or "")
    assert str(after.seconds().to_pandas()["users"].dtype) == "Int64"


def test_a_polars_frame_has_the_same(stored: api.RunStore) -> None:
    polars = pytest.importorskip("polars", reason="pip install polars")
    frame = stored.run().seconds().to_polars()
    assert frame.schema["users"] == polars.Int64
    assert frame["users"].to_list() == [5, None, None, 5, None, None]
    assert stored.runs().to_polars()["tags"].to_list() == ["nightly", ""]


@pytest.mark.parametrize(
    ("library", "method", "install"),
    [
        ("pyarrow", "to_arrow", r"pip install 'plimsoll-lab\[parquet\]'"),
        ("pandas", "to_pandas", "pip install pandas"),
        ("polars", "to_polars", "pip install polars"),
    ],
)
def test_a_library_that_is_missing_is_named(
    stored: api.RunStore, monkeypatch: pytest.MonkeyPatch, library: str, method: str, install: str
) -> None:
    rows = stored.run().rows()
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError, match=rf"{method}\(\) needs {library}: {install}"):
        getattr(rows, method)()
    assert library != "pandas" or rows._repr_html_() is None
