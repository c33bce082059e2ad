from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import UsageError
from plimsoll.load.feeders import read_rows


@pytest.fixture
def write(tmp_path: Path):  # type: ignore[no-untyped-def]
    def make(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return make


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "id,name\n1,a\n2,\n"),
        ("a.csv", "\ufeffid,name\r\n1,a\r\n\r\n2,\r\n"),
        ("a.txt", 'id,"name"\n1,a\n2,""'),
        ("a.tsv", "id\tname\n1\ta\n2\t\n"),
        ("a.json", '[{"id": 1, "name": "a"}, {"name": null, "id": "2"}]'),
        ("a.jsonl", '{"id": 1, "name": "a"}\n\n{"name": "", "id": 2}\n'),
    ],
)
def test_rows_come_from_every_kind_of_file(write, name: str, text: str) -> None:  # type: ignore[no-untyped-def]
    assert read_rows(write(name, text)) == (["id", "name"], [["1", "a"], ["2", ""]])


def test_a_delimiter_can_be_given(write) -> None:  # type: ignore[no-untyped-def]
    assert read_rows(write("a.csv", "a;b\n1,5;2\n"), ";") == (["a", "b"], [["1,5", "2"]])


def test_values_of_json_that_are_no_text_are_put_in_as_json(write) -> None:  # type: ignore[no-untyped-def]
    rows = read_rows(write("a.json", '[{"a": true, "b": 1.50, "c": {"d": ["é"]}}]')).rows
    assert rows == [["true", "1.5", '{"d": ["é"]}']]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "", ": there are no rows"),
        ("a.csv", "id,name\n", ":1: there are no rows"),
        ("a.csv", "1,a\n2,b\n", ':1: "1" is no name of a column; the first line must name the columns'),
        ("a.csv", "id,\n1,2\n", ':1: "" is no name of a column; each column needs one'),
        ("a.csv", "id,id\n1,2\n", ":1: two columns are called id"),
        ("a.csv", "id,name\n1,a\n\n3\n", ":4: 1 values, but 2 columns"),
        ("a.csv", 'id,name\n1,"a\nb"\n3,4,5\n', ":4: 3 values, but 2 columns"),
        ("a.csv", 'id\n"a"b\n', ":2: "),
        ("a.json", "{}", ": a list of objects is expected"),
        ("a.json", "[]", ": there are no rows"),
        ("a.json", "[\n{\n", ":3: not JSON"),
        ("a.json", '[{"a": 1}, {"b": 1}]', ": element 1: has b, but the first row a"),
        ("a.json", '[{"a": 1}, {}]', ": element 1: has nothing, but the first row a"),
        ("a.json", '[{"a": 1}, 5]', ": element 1: 5 does not name its values"),
        ("a.json", '[{"a b": 1}]', ': element 0: "a b" is no name of a column'),
        ("a.json", "[{}]", ": element 0: there are no columns"),
        ("a.jsonl", '{"a": 1}\n\n{"b": 1}\n', ":3: has b, but the first row a"),
        ("a.jsonl", '{"a": 1}\n\n{"b"}\n', ":3: not JSON"),
    ],
)
def test_a_mistake_is_told_by_its_line(write, name: str, text: str, message: str) -> None:  # type: ignore[no-untyped-def]
    path = write(name, text)
    with pytest.raises(UsageError) as refused:
        read_rows(path)
    assert str(refused.value).startswith(f"{path}{message}")


VALUES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


@given(rows=st.lists(st.lists(VALUES, min_size=2, max_size=2), min_size=1, max_size=5))
def test_csv_and_json_say_the_same(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]) -> None:
    folder = tmp_path_factory.mktemp("feeder")
    with (folder / "a.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["a", "b"], *rows])
    (folder / "a.json").write_text(json.dumps([{"a": a, "b": b} for a, b in rows]))
    assert read_rows(folder / "a.csv") == read_rows(folder / "a.json") == (["a", "b"], rows)
