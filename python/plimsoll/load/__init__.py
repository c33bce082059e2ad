"""How much load, and of what: plan files and load options in, plain values out. Nothing is sent from here.

- spec: Load, Phase and ShapeSpec, the values that coordinator, workers and manifests share
- durations, levels: how times and levels are written; mistakes: what is said about those that cannot be read
- shapes: the registry of the shapes, a class each; timestamps: the file of a replay
- phases: one phase, and several in a row
- plan_file: a plan, read; plan_model, step_model, feeders, bodies: its tables; scenario: what native users get of it
- complaints: every mistake of a file, by field and line; toml_file: a file, and the lines of its fields
- options: the options of `run`; targets: vegeta's files; url: a single URL; origins: where a URL points
"""
