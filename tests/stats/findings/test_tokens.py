from dataclasses import replace

from tests.stats.findings.making import found, row, run, study

from plimsoll.record import STREAM_ROWS
from plimsoll.say.findings import said
from plimsoll.stats.findings import find
from plimsoll.stats.findings.tokens import BY_CHUNK, BY_USAGE, tokens
from plimsoll.stats.study import Measured


def _row(method: str, requests: int | None, name: str = "chat") -> Measured:
    return replace(row(), method=method, name=name, requests=requests)


def test_tokens_counted_by_chunk_are_said_with_what_to_do() -> None:
    (finding,) = found(tokens, study(run(1, _row(BY_CHUNK, 1200)), run(2, _row(BY_CHUNK, 34), variant="b")))
    assert said(finding).statement == (
        "chat: the server sent no usage, so 1234 chunks are counted as tokens; "
        '"stream_options": {"include_usage": true} in the body of the request gives real counts.'
    )
    assert (finding.id, finding.weight, finding.where.endpoint) == ("TOKENS", "warning", (BY_CHUNK, "chat"))


def test_each_name_has_its_own_and_usage_in_part_is_said() -> None:
    rows = _row(BY_CHUNK, 5), _row(BY_USAGE, 7), _row(BY_CHUNK, 9, "other")
    mixed, other = found(tokens, study(run(1, *rows)))
    assert "chat: in some responses the server sent no usage, so 5 chunks" in said(mixed).statement
    assert "other: the server sent no usage, so 9 chunks" in said(other).statement


def test_real_counts_and_no_texts_have_none() -> None:
    assert found(tokens, study(run(1, _row(BY_USAGE, 7), _row("each event", 7), row("POST chat", requests=3)))) == []
    assert found(tokens, study(run(1, _row(BY_CHUNK, 0), _row(BY_CHUNK, None, "unknown")))) == []
    assert found(tokens, study(run(1, _row(BY_CHUNK, 5), invalid=("lost",)))) == []


def test_it_is_among_the_findings_of_a_study_and_its_rows_are_known() -> None:
    assert [each.id for each in find(study(run(1, _row(BY_CHUNK, 5))))] == ["TOKENS"]
    assert {BY_CHUNK, BY_USAGE} <= STREAM_ROWS
