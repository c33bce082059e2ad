"""YAML is read as JSON, and hostile documents are refused at once."""

from __future__ import annotations

import pytest

from plimsoll.errors import UsageError
from plimsoll.sources.yaml_document import yaml_document

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)


def test_values_are_those_of_json():
    text = "200: {a: 2026-01-31, b: yes, c: true, d: ~, e: 1.5, f: 017}\nshared: &s [1]\nagain: *s\n"
    assert yaml_document("x", text) == {
        "200": {"a": "2026-01-31", "b": "yes", "c": True, "d": None, "e": 1.5, "f": 15},
        "shared": [1], "again": [1],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LAUGHS, r"x: its aliases stand for more than 5,000,000 values"),
        ("a: &a [*a]", r"x: not YAML that can be read: an alias stands for what it is in"),
        ("[" * 100_000, r"x:1:\d+: not YAML: exceeded maximum nesting depth"),
        ("- " * 900, r"x: not YAML that can be read: too many levels"),
        ("a: [1\nb: 2", r"x:2:2: not YAML: "),
        ("a: !!python/object/apply:os.system [ls]", r"x:1:4: not YAML: could not determine a constructor"),
        ("a: 1\n---\nb: 2", r"x:2:1: not YAML: but found another document"),
        ("a: \x00", r"x: not YAML that can be read: "),
    ],
    ids=["aliases", "cycle", "brackets", "dashes", "broken", "object", "two-documents", "control-character"],
)
def test_hostile_and_broken_documents(text, message):
    with pytest.raises(UsageError, match=message):
        yaml_document("x", text)
