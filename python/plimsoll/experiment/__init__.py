"""Variants × levels × repeats: what is run, in which order, and the study that comes of it.

- spec: `Experiment` and its parts, the values that everybody here shares; placeholders: `{port}` and others in them
- spec_file: experiment.toml, read, and its mistakes by line and field; spec_model, spec_levels, spec_hooks: its tables
- cell_values: `Cell` and `CellOutcome`; cell: one cell from its preparation to its cool-down
- target: a variant's target, started and stopped; source: a git ref; container: an image; ports; health: is it ready?
- hooks: commands around a run; measure: the run itself; process, supervisor: commands that cannot outlive us
- order: which cell comes when; budget: how long it takes, and how many repeats the question needs
- plan, announce, prepare: what a session will do, and what is said before; session: from its first cell to its last
- state: what is kept, and what changed since; study: what was kept, as statistics see it
- drift: what else differs between variants; reproduce: a kept run, once more
"""
