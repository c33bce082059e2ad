from dataclasses import replace

from tests.stats.findings.making import on_full_machine, run, study

from plimsoll.stats.machine import MACHINE, StarvedTarget, starved, starved_cells


def test_cells_with_a_starved_target():
    """Of the runs that count: each cell has the mean of its own."""
    full = [on_full_machine(run(50, repeat=repeat), cores) for repeat, cores in enumerate((0.25, 0.75))]
    wrong = replace(on_full_machine(run(100), 0.05), invalid=("it was late",))
    assert starved_cells(study(run(10), *full, wrong)) == {}, "a quarter of 2 cores is no small part"
    assert starved_cells(study(full[0])) == {full[0].cell: StarvedTarget(2.0, 2.0, 0.25)}


def test_a_target_is_not_starved_if_its_machine_has_cores_left_or_nothing_of_it_was_observed():
    trial = on_full_machine(run(10))
    assert starved([trial]) is not None
    assert starved([replace(trial, cores={MACHINE: 4.0})]) is None
    assert starved([replace(trial, cores={})]) is None
    assert starved([replace(trial, observed=trial.observed[1:])]) is None
