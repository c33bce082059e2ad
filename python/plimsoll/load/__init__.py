"""The amount and content of load: plan files and load options in, plain values out. Nothing is sent from here.

- spec: Load, Phase and ShapeSpec, the values that coordinator, workers and manifests share
- durations, levels: notations of times and levels; mistakes: messages about invalid ones
- shapes: the registry of the shapes, a class each
- phases: one phase, and a sequence of phases
- plan_file: a parsed plan; plan_model, step_model, feeders, bodies: its tables; scenario: the input of native users
- protocols: the registry of the steps of a plan (`steps.py`), a class each; schemas of gRPC, certificates
- complaints: every error of a file, by field and line; toml_file: a file, and the lines of its fields
- options: the options of `run`; targets: vegeta's files; url: a single URL; origins: the target of a URL
"""
