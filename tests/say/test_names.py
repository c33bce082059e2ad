from tests.stats.findings.making import run, study

from plimsoll.record import OTHERS
from plimsoll.say.names import at_levels, code, folded_names, lead, listed, named, naming_hint, row, several
from plimsoll.stats.findings import subject as of
from plimsoll.stats.names import NamePattern
from plimsoll.stats.study import Level


def test_lists_and_levels():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert at_levels([Level("users", 48), Level("users", 162)]) == "at 48 and 162 users"
    assert at_levels([Level("/s", 300), Level("/s", 600)]) == "at 300 and 600/s"
    assert at_levels([None]) == ""


def test_a_long_list_ends_with_how_many_more_there_are():
    assert several(list("abcde")) == "a, b, c, d and e"
    assert several(list("abcdef")) == "a, b, c, d and 2 more"


def test_names_stand_between_backticks_that_they_cannot_end():
    assert code("a`b") == "`a'b`"


def test_the_hint_says_what_to_write():
    pattern = NamePattern("/item/[0-9]+", "/item/[id]", 1.0)
    assert naming_hint(pattern) == 'Most names look like /item/[0-9]+: set name="/item/[id]" for these requests.'
    assert naming_hint(NamePattern("/a", "/b", 0.5)).startswith("Many names look like /a: ")
    assert naming_hint(None) == "Set name= for requests whose URLs differ, so that they are counted together."


def test_folded_names_have_their_number():
    assert folded_names(1, 1) == (
        f'This run had more than 1 name: 1 request of further names is counted as "{OTHERS[1]}".'
    )


def test_a_run_is_named_by_what_tells_it_apart():
    alone = run(10, id="r1")
    several_runs = [
        run(n, variant=name, operation=what) for n in (10, 20) for name in "ab" for what in ("read", "GET /")
    ]
    repeated = [run(10, id="r1"), run(10, id="r2", repeat=1)]
    assert named(of.run(study(alone), alone)) == "r1"
    assert named(of.run(study(alone), alone, "GET /")) == "GET /"
    assert named(of.run(study(*several_runs), several_runs[0])) == "a, read at 10 users"
    assert named(of.run(study(*several_runs), several_runs[1], "GET /")) == "a, GET / at 10 users"
    assert named(of.run(study(*repeated), repeated[1], "GET /")) == "GET / (run 2)"
    assert named(of.cell(study(*repeated), repeated[1], "GET /")) == "GET /"
    assert lead(of.cell(study(alone), alone)) == ""
    assert row(of.compared(study(*several_runs), ("GET", "/"), several_runs[0])) == "read: GET / at 10 users"
