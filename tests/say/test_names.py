from plimsoll.record import OTHERS
from plimsoll.say.names import at_levels, code, folded_names, listed, naming_hint, several
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
