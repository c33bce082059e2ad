from __future__ import annotations

import pytest

from plimsoll.errors import UsageError
from plimsoll.experiment.matching.renames import Rename, renamed
from plimsoll.experiment.matching.studies import matched
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import Level, Measured, Study, TargetWork, Trial

TEXTS = [("", "all"), ("first token", "all"), ("each token", "all")]
OWN = [("POST", "/v1/chat/completions"), ("first token", "/v1/chat/completions"), ("GET", "/models")]


def study(name: str, keys: list[tuple[str, str]]) -> Study:
    rows = tuple(Measured(*key, requests=10, rate=1.0, quantiles={0.5: 20.0}) for key in keys)
    work = (TargetWork("part", "POST /v1/chat/completions", "db", 1, 2.0),)
    trial = Trial(
        id=name, variant=name, level=Level("users", 2), endpoints=rows, total=Measured("", "Aggregated"), work=work
    )
    return Study(name, (trial,), source=name, metrics=(Metric.parse("p50"),))


def keys(study: Study) -> list[tuple[str, str]]:
    return [endpoint.key for endpoint in study.trials[0].endpoints]


@pytest.mark.parametrize("new", ["POST /v1/chat/completions", "POST /other"])
def test_a_name_means_all_endpoints_with_it_and_rows_of_replies_keep_their_method(new: str) -> None:
    one, other = renamed([study("guidellm", TEXTS), study("own", OWN)], [Rename.parse(f"all={new}")])
    name = new.removeprefix("POST ")
    assert keys(one) == [("POST", name), ("first token", name), ("each token", name)]
    assert keys(other) == OWN


def test_results_are_matched_under_the_new_name() -> None:
    both = matched(
        renamed([study("guidellm", TEXTS), study("own", OWN)], [Rename.parse("all=POST /v1/chat/completions")])
    )
    assert "only own has GET /models; Aggregated is not of the same requests" in both.warnings
    assert both.trials[0].endpoint(("first token", "/v1/chat/completions")) is not None


def test_a_method_and_a_name_mean_one_endpoint() -> None:
    one, _ = renamed([study("a", OWN), study("b", OWN[:1])], [Rename("first token /v1/chat/completions", "chat")])
    assert keys(one) == [OWN[0], ("first token", "chat"), OWN[2]]


def test_parts_of_the_targets_time_go_with_their_endpoint() -> None:
    one, _ = renamed([study("a", OWN), study("b", OWN)], [Rename("POST /v1/chat/completions", "POST /chat")])
    assert one.trials[0].work[0].source == "POST /chat"


def test_both_sides_can_get_a_third_name() -> None:
    renames = [Rename("all", "POST chat"), Rename("/v1/chat/completions", "POST chat")]
    one, other = renamed([study("a", TEXTS[:1]), study("b", OWN[:1])], renames)
    assert keys(one) == keys(other) == [("POST", "chat")]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("al", "x", r"--rename al=…: no endpoint has this name. Did you mean all\? There are GET /models, POST /v1"),
        ("/nothing/like/this", "x", r"no endpoint has this name. There are GET /models"),
        ("/models", "POST /v1/chat/completions",
         "POST /v1/chat/completions and GET /models of b would both be POST /v1/chat/completions"),
    ],
)  # fmt: skip
def test_what_cannot_be_renamed(old: str, new: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        renamed([study("a", TEXTS), study("b", OWN)], [Rename(old, new)])


def test_two_new_names_for_one_endpoint() -> None:
    with pytest.raises(UsageError, match="GET /models already becomes GET /a"):
        renamed([study("a", OWN), study("b", OWN)], [Rename("/models", "GET /a"), Rename("/models", "GET /b")])


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [("a=b", "a", "b"), ("/x?id=1 = /x", "/x?id=1", "/x"), ("POST /a=POST /b", "POST /a", "POST /b")],
)
def test_parsing(text: str, old: str, new: str) -> None:
    assert Rename.parse(text) == Rename(old, new)


@pytest.mark.parametrize("text", ["a", "=b", "a=", "a=b=c", " = "])
def test_no_rename(text: str) -> None:
    with pytest.raises(UsageError, match="--rename takes OLD=NEW"):
        Rename.parse(text)
