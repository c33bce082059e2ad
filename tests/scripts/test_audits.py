"""Advisories are found, or it is said that nobody was asked."""

from __future__ import annotations

import sys

from scripts.audits import Audit, audit


def script(code: str) -> Audit:
    return Audit("x audit", (sys.executable, "-c", code), "vulnerabilities")


def test_no_advisory(tmp_path):
    assert audit(tmp_path, [script("print('{\"vulnerabilities\": {}}')")]) == ([], [])


def test_an_advisory_is_in_the_way_of_a_release(tmp_path):
    found, unknown = audit(tmp_path, [script('print(\'{"vulnerabilities": {"a": 1}}\'); exit(1)')])
    assert (len(found), unknown) == (1, [])
    assert found[0].startswith("x audit knows advisories: run ")


def test_a_database_that_cannot_be_reached_is_one_line_and_no_advisory(tmp_path):
    offline = script(
        "import sys; print('{\"error\": 1}'); print('\\ncannot connect\\nsee a log', file=sys.stderr); exit(1)"
    )
    silent = script("")
    missing = Audit("y audit", (str(tmp_path / "no-such-tool"),), "vulnerabilities")
    found, unknown = audit(tmp_path, [offline, silent, missing])
    assert found == []
    assert unknown[:2] == [
        "x audit did not reach its advisory database: cannot connect",
        "x audit did not reach its advisory database: no answer",
    ]
    assert unknown[2].startswith("y audit did not run: ")
