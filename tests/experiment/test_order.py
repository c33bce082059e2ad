from __future__ import annotations

from collections import Counter
from itertools import groupby

from plimsoll.experiment.order import cells_in_order, seed_of


def places(cells):
    return [(each.repeat, each.variant, each.level, each.operation) for each in cells]


def blocks(cells):
    """Runs of cells at one level with one operation, as (repeat, level, operation) and the variants in their order."""
    grouped = groupby(cells, key=lambda each: (each.repeat, each.level, each.operation))
    return [(key, "".join(each.variant for each in group)) for key, group in grouped]


def test_each_repeat_has_every_cell_once_before_the_next_one_begins(make_spec):
    spec = make_spec("a b c", users=(5, 10), operations=("read", "write"), repeats=4)
    cells = cells_in_order(spec)
    assert [each.number for each in cells] == list(range(1, 4 * 12 + 1))
    assert [each.repeat for each in cells] == [1] * 12 + [2] * 12 + [3] * 12 + [4] * 12
    operations = ("read", "write")
    every = {(variant, level, operation) for variant in "abc" for level in spec.levels for operation in operations}
    for repeat in range(1, 5):
        assert Counter(each[1:] for each in places(cells) if each[0] == repeat) == Counter(every)


def test_the_variants_of_a_level_and_operation_come_directly_after_one_another(make_spec):
    cells = cells_in_order(make_spec("a b c", users=(5, 10, 20), operations=("read", "write"), repeats=3))
    assert all(sorted(variants) == list("abc") for _, variants in blocks(cells))
    assert len(blocks(cells)) == 3 * 6


def test_two_repeats_mirror_each_other_so_that_drift_cancels(make_spec):
    cells = cells_in_order(make_spec("a b c d", users=(5, 10), repeats=6))
    by_level = {}
    for (repeat, level, _), variants in blocks(cells):
        by_level.setdefault(level, {})[repeat] = variants
    for orders in by_level.values():
        for first in (1, 3, 5):
            assert orders[first + 1] == orders[first][::-1]
            # Over a pair of repeats every variant has the same mean place.
            assert {orders[first].index(each) + orders[first + 1].index(each) for each in "abcd"} == {3}


def test_the_order_is_random_but_follows_from_the_seed(make_spec):
    def orders(seed: int) -> list[str]:
        return [variants for _, variants in blocks(cells_in_order(make_spec("a b", repeats=40, seed=seed)))]

    assert orders(1) == orders(1) != orders(2)
    firsts = [each[0] for each in orders(1)[::2]]
    assert 3 <= firsts.count("a") <= 17
    levels = [
        [each.level for each in cells_in_order(make_spec("a", users=(1, 2, 3, 4, 5, 6), repeats=2, seed=seed))][:6]
        for seed in range(5)
    ]
    assert len({tuple(each) for each in levels}) == 5
    assert sum(each == sorted(each) for each in levels) < 2


def test_the_levels_of_two_repeats_are_shuffled_independently(make_spec):
    cells = cells_in_order(make_spec("a", users=tuple(range(1, 9)), repeats=2))
    assert [each.level for each in cells[:8]] != [each.level for each in cells[8:]]


def test_more_repeats_do_not_change_those_before(make_spec):
    few, many = (cells_in_order(make_spec("a b c", users=(5, 10), repeats=repeats)) for repeats in (3, 7))
    assert many[: len(few)] == few


def test_the_cells_of_a_repeat_draw_alike_and_those_of_another_do_not(make_spec):
    spec = make_spec("a b", users=(5, 10), repeats=3)
    cells = cells_in_order(spec)
    seeds = {repeat: {each.seed for each in cells if each.repeat == repeat} for repeat in (1, 2, 3)}
    assert all(len(each) == 1 for each in seeds.values())
    assert len({seed for each in seeds.values() for seed in each}) == 3
    assert seed_of(spec, 1) != seed_of(make_spec(seed=2), 1)
    assert all(0 <= each.seed < 2**63 for each in cells)
