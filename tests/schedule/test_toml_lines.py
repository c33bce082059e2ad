from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll._engine import toml_lines


def test_every_key_and_element_has_the_line_where_it_is_written():
    text = """\
name = "x"
a.b.c = 1

[target.tls]
verify = false
[target]
url = "…"
[[phase]]
rate = 3
[phase.more]
x = 1
[[phase]]
list = [
  1,
  [2, 3,
   { m = 4 }],
]
inline = { a = 1, b.c = 2 }
"quoted key" = '''
two lines'''
last = true
"""
    assert toml_lines(text) == {
        "name": 1,
        "a": 2, "a.b": 2, "a.b.c": 2,
        "target": 6, "target.tls": 4, "target.tls.verify": 5, "target.url": 7,
        "phase": 8,
        "phase[0]": 8, "phase[0].rate": 9, "phase[0].more": 10, "phase[0].more.x": 11,
        "phase[1]": 12, "phase[1].list": 13, "phase[1].list[0]": 14, "phase[1].list[1]": 15,
        "phase[1].list[1][0]": 15, "phase[1].list[1][1]": 15, "phase[1].list[1][2]": 16, "phase[1].list[1][2].m": 16,
        "phase[1].inline": 18, "phase[1].inline.a": 18, "phase[1].inline.b": 18, "phase[1].inline.b.c": 18,
        "phase[1].quoted key": 19,
        "phase[1].last": 21,
    }  # fmt: skip


def test_line_ends_of_windows_count_once():
    assert toml_lines("a = 1\r\n\r\nb = 2\r\n") == {"a": 1, "b": 3}


def test_an_empty_document_has_no_keys():
    assert toml_lines("") == {}
    assert toml_lines("# nothing\n") == {}


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = ", 2), ("a = 1\n\na = 2\n", 3), ("x = 1\n[open\n", 2), ("a = 1\nd = 2020-13-01\n", 2), ("=", 1)],
)
def test_what_is_not_toml_is_refused_with_its_line_in_one_line(text, line):
    with pytest.raises(ValueError) as refused:
        toml_lines(text)
    message = str(refused.value)
    assert message.startswith(f"line {line}: ")
    assert "\n" not in message


KEYS = st.text("abcdef", min_size=1, max_size=3)


@given(st.dictionaries(KEYS, st.lists(st.integers(0, 9), max_size=4), max_size=6), st.data())
def test_there_is_a_line_for_all_that_the_standard_library_reads(document, data):
    lines = [
        data.draw(st.sampled_from(["", "# why\n\n"])) + f"{key} = {data.draw(st.sampled_from(['', ' ']))}{value}"
        for key, value in document.items()
    ]
    text = "\n".join(lines)
    read = tomllib.loads(text)
    found = toml_lines(text)
    assert set(found) == {*read, *(f"{key}[{i}]" for key, value in read.items() for i in range(len(value)))}
    rows = text.split("\n")
    assert all(rows[found[key] - 1].startswith(f"{key} =") for key in read)
