from plimsoll.say.answer.target_side import sentences
from plimsoll.stats.study import Study, TargetWork, Trial


def traced(variant: str, *works: TargetWork) -> Trial:
    return Trial(id=variant, variant=variant, duration=60.0, work=works)


def transaction(source: str, view: str, calls: int, ms: float) -> TargetWork:
    return TargetWork("transaction", source, "GET x", calls, ms, view=view)


def test_the_most_frequent_request_and_the_one_that_takes_most_time_are_named_for_each_variant():
    old = traced("old", transaction("accounts", "Accounts.list", 845, 90.0), transaction("forum", "List", 155, 110.0))
    new = traced("new", transaction("forum", "List", 60, 75.0), transaction("accounts", "Accounts.list", 40, 25.0))
    assert [*sentences(Study("s", (old, new)))] == [
        "By the traces of `old`, 84 % of all requests that its services answer are `accounts Accounts.list`; most time "
        "goes to `forum List` (55 %).",
        "By the traces of `new`, 60 % of all requests that its services answer are `forum List`; they also take most "
        "time (75 %).",
    ]


def test_runs_of_which_some_have_no_traces_say_nothing():
    old = traced("old", transaction("forum", "List", 60, 75.0))
    statements = traced("new", TargetWork("statement", "db", "SELECT 1", 5, 5.0))
    assert [*sentences(Study("s", (old, statements)))] == []
    assert [*sentences(Study("s", (old,)))] == [
        "By the traces, 100 % of all requests that its services answer are `forum List`; they also take most time "
        "(100 %)."
    ]
