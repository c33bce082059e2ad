"""The error of a file that no importer knows is about that file."""

from __future__ import annotations

import json

import pytest

from plimsoll.errors import UsageError
from plimsoll.importers.unknown import KNOWN

FORTIO = json.dumps({"RunType": "HTTP", "Labels": "", "DurationHistogram": {"Count": 1}}, indent=1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        (FORTIO, f"is a JSON object with the keys RunType, Labels and DurationHistogram: {KNOWN}"),
        ('{"a\\u001b[2J": 1}', f"is a JSON object with the key a\ufffd[2J: {KNOWN}"),
        (
            json.dumps(dict.fromkeys("abcdefghijkl")),
            f"is a JSON object with the keys a, b, c, d, e, f, g, h and 4 more: {KNOWN}",
        ),
        ("{}", f"is an empty JSON object: {KNOWN}"),
        (
            '[{"method": "GET", "url": "http://h/"}]',
            f"is a JSON array of objects with the keys method and url: {KNOWN}",
        ),
        ("[]", f"is an empty JSON array: {KNOWN}"),
        ('{"at": 1}\n{"at": 2}\n', f"is JSON objects in lines, with the key at: {KNOWN}"),
        ('{"at": 1,\n"b": ', f"is damaged JSON (Expecting value in line 2): {KNOWN}"),
        ("[" * 100_000, f"is JSON that is nested too deeply: {KNOWN}"),
        ("[" + "9" * 5000 + "]", f"is JSON with a number that is too long: {KNOWN}"),
        ('<?xml version="1.0"?>\n<testsuites/>', f"is XML with the root element <testsuites>: {KNOWN}"),
        ("<run>\n</run>\n", f"is XML with the root element <run>: {KNOWN}"),
        ("<!doctype html>\n<html><body>", f"is an HTML page: {KNOWN}"),
        (b"\x7fELF\x00\x01", f"is a binary file: {KNOWN}"),
        (b"PK\x03\x04\x14\x00", "is a ZIP archive or a spreadsheet: unpack it, or save the sheet as CSV"),
        (
            b"\x1a\x7f\x03\x01\x01\x06Result",
            "is binary, as vegeta's own results are: `vegeta encode FILE > results.json` writes them as text",
        ),
    ],
)
def test_a_file_that_is_not_known_is_described(read_text, tmp_path, content, message):
    with pytest.raises(UsageError) as caught:
        read_text(content, "results")
    assert str(caught.value) == f"{tmp_path / 'results'}: {message}"


@pytest.mark.parametrize("prose", ["It was fast.\n", "[1] A footnote.\n", "{ braces }\n", "<h1>Results</h1>\nNone.\n"])
def test_prose_without_a_table_is_told_what_a_table_has(read_text, prose):
    with pytest.raises(UsageError, match="no table with results was found; a table has a header"):
        read_text(prose, "report.md")


def test_a_table_after_a_tag_or_in_brackets_is_read(read_text):
    table = "Name | p50 | p99\n---|---|---\n/a | 1 | 2\n"
    for before in ("<h1>Results</h1>\n", "[a link](http://h/)\n", "{{ toc }}\n", "\x1b[1mResults\x1b[0m\n"):
        assert read_text(before + table, "report.md").trials[0].endpoints[0].quantile(0.5) == 1
