"""The target's side of a run, looked at once a second: what its processes take, what its database does.

- sampler: asks probes at even distances, and keeps what they say; processes, postgres: the probes
"""
