"""A stored run, once more. A store is data: it may come from somebody else, and what it says is shown, not obeyed.

- files: which files of this machine a store may name
- effects: all that a run will do, composed from its plan, for a person to look at before
- stored_plan: the plan of a stored run; cell: a cell of an experiment, with its target
- changes: what has changed since
"""
