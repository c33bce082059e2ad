"""Variants × levels × repeats: what is run, in which order, and the study that comes of it.

- spec: `Experiment` and its parts, the values that all modules here share; placeholders: `{port}` and others in them
- file: experiment.toml, read, and its mistakes by line and field
- cell_values: `ExperimentCell` and `CellError`; cell: one cell from its preparation to its cool-down
- target: a variant's target, started and stopped; source: a git ref; container: an image; ports; health: is it ready?
- hooks: commands around a run; planned_cell, measure: the run itself
- order: which cell comes when; budget: how long it takes, and how many repeats the question needs
- plan, announce, prepare: what a session will do, and what is said before; session: from its first cell to its last
- display: what is seen meanwhile
- state: what is kept, and what changed since; study: what was kept, as statistics see it
- refs: what names of a command stand for; drift: what else differs between variants
- reproduction: a kept run, once more
"""
