from __future__ import annotations

import pytest

from plimsoll.errors import UsageError
from plimsoll.run.options import UnknownOption, make_parser, parse
from plimsoll.run.plan import RunPlan


def test_the_plan_is_there_by_locusts_names() -> None:
    plan = RunPlan(host="http://h", users=5, spawn_rate=2.0, tags=("a",), options=(("csv_prefix", "x"),))
    options = parse(make_parser(), plan)
    assert (options.host, options.num_users, options.spawn_rate, options.tags) == ("http://h", 5, 2.0, ["a"])
    assert (options.csv_prefix, options.exclude_tags, options.user_classes) == ("x", None, [])


def test_options_of_the_locustfile_are_told_from_user_classes() -> None:
    parser = make_parser()
    parser.add_argument("--product", type=int, default=1, include_in_web_ui=False, is_secret=True)
    parser.add_argument_group("more").add_argument("--fast", action="store_true", include_in_web_ui=False)
    options = parse(parser, RunPlan(arguments=("--product", "7", "Shopper", "--fast", "Admin")))
    assert (options.product, options.fast, options.user_classes) == (7, True, ["Shopper", "Admin"])


@pytest.mark.parametrize(
    ("settings", "text", "value"),
    [
        ({"type": int}, "8", 8),
        ({"action": "store_true"}, "true", True),
        ({"action": "store_true"}, "0", False),
        ({"nargs": "*"}, "a b", ["a", "b"]),
        ({"is_required": True}, "x", "x"),
    ],
)
def test_an_option_has_its_value_from_its_variable_unless_it_is_given(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, object], text: str, value: object
) -> None:
    monkeypatch.setenv("MY_OPTION", text)
    parser = make_parser()
    parser.add_argument("--mine", env_var="MY_OPTION", **settings)
    assert parse(parser, RunPlan()).mine == value


def test_an_option_that_nobody_knows_is_named_without_its_value() -> None:
    with pytest.raises(UnknownOption, match=r"^--run-tim$"):
        parse(make_parser(), RunPlan(arguments=("--run-tim=5",)))


@pytest.mark.parametrize(
    ("arguments", "message"), [(("--product", "x"), "invalid int value"), ((), "required: --product")]
)
def test_a_value_that_the_option_refuses_is_an_error_of_usage(arguments: tuple[str, ...], message: str) -> None:
    parser = make_parser()
    parser.add_argument("--product", type=int, is_required=True)
    with pytest.raises(UsageError, match=message):
        parse(parser, RunPlan(arguments=arguments))
