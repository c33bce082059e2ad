"""Endpoints, their targets, and the memory that they take."""

from __future__ import annotations

from plimsoll.sources.access_logs import mix as module
from plimsoll.sources.access_logs.line import AccessLine
from plimsoll.sources.access_logs.mix import MOST_TARGETS, MOST_WORDS, LogMix, path_of


def mix_of(*targets: str) -> LogMix:
    mix = LogMix()
    for target in targets:
        mix.add(AccessLine("GET", target))
    return mix


def counts(mix: LogMix) -> dict[str, int]:
    return {endpoint.name: asked.requests for endpoint, asked in mix.endpoints}


def test_numbers_and_ids_in_a_path_are_values() -> None:
    uuid, code = "0f8fad5b-d9cb-469f-a165-70867728950e", "9f86d081884c"
    mix = mix_of("/todos/1", "/todos/22", f"/todos/{uuid}/items/{code}", "/todos/3/items/4", "/todos/all", "/v2/x")
    assert counts(mix) == {
        "GET /todos/{todo_id}": 2, "GET /todos/{todo_id}/items/{item_id}": 2, "GET /todos/all": 1, "GET /v2/x": 1,
    }  # fmt: skip


def test_a_place_with_many_words_is_a_value() -> None:
    words = [f"{first}{second}" for first in "abcdefghijkl" for second in "abcdefghijkl"]
    mix = mix_of("/shop/help/faq", *(f"/shop/{word}-shoe/reviews" for word in words), "/about")
    assert len(words) > MOST_WORDS
    assert counts(mix) == {
        "GET /shop/{shop_id}/reviews": len(words), "GET /shop/{shop_id}/faq": 1, "GET /about": 1,
    }  # fmt: skip
    (reviews,) = (asked for endpoint, asked in mix.endpoints if endpoint.segments[-1] == "reviews")
    assert sorted(reviews.targets) == sorted(f"/shop/{word}-shoe/reviews" for word in words)


def test_requests_with_other_parameters_are_apart_under_one_name() -> None:
    mix = mix_of("/search?q=a", "/search?q=b&page=2", "/search?q=c")
    assert [(endpoint.query, asked.requests) for endpoint, asked in mix.endpoints] == [(("q",), 2), (("q", "page"), 1)]
    assert {endpoint.name for endpoint, _ in mix.endpoints} == {"GET /search"}


def test_targets_are_a_sample_in_which_each_request_is_as_likely() -> None:
    mix = mix_of(*(f"/todos/{number}" for number in range(50 * MOST_TARGETS)))
    ((_, asked),) = mix.endpoints
    assert (asked.requests, len(asked.targets)) == (50 * MOST_TARGETS, MOST_TARGETS)
    early = sum(int(target.rpartition("/")[2]) < 25 * MOST_TARGETS for target in asked.targets)
    # Half of them, within five standard deviations.
    assert abs(early - MOST_TARGETS / 2) < 5 * (MOST_TARGETS / 4) ** 0.5


def test_pauses_are_those_within_a_visit() -> None:
    mix = LogMix()
    for time, client in ((0.0, "a"), (4.0, "a"), (5.0, "b"), (12.0, "a"), (90_000.0, "a")):
        mix.add(AccessLine("GET", "/", 200, time, client))
    assert (mix.visits, mix.pauses, mix.mean_pause_s, mix.seconds) == (3, 2, 6.0, 90_001.0)


def test_endpoints_and_clients_are_bounded(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(module, "MOST_ENDPOINTS", 10)
    monkeypatch.setattr(module, "MOST_CLIENTS", 10)
    mix = LogMix()
    for number in range(100):
        mix.add(AccessLine("GET", f"/{'abcdefghij'[number % 10]}/{'klmnopqrst'[number // 10]}", 200, 1.0, str(number)))
    assert len(mix.endpoints) == 10
    assert mix.left_out["of more endpoints than are kept"] == 90
    assert mix.visits == 10


def test_values_have_names() -> None:
    assert path_of(("users", "{}", "{}", "x-y", "{}")) == "/users/{user_id}/{id}/x-y/{x_y_id}"
    assert path_of(("{}",)) == "/{id}"
    assert path_of(("",)) == "/"


def test_places_of_paths_and_long_targets_are_bounded(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(module, "MOST_PLACES", 3)
    mix = mix_of("/a/b/c/d", "/a/b/c/e", "/x" * (module.MOST_SEGMENTS + 1), f"/?q={'x' * module.LONGEST_TARGET}")
    assert counts(mix) == {"GET /a/b/c/{c_id}": 2}
    assert mix.left_out == {"with a very long path or query": 2}
    mix.leave_out(AccessLine("POST", "/x" * 30_000), module.NO_BODY)
    (name,) = mix.without_body
    assert name.count("/") == module.MOST_SEGMENTS
