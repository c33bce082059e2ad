"""How often a trend tells a change where there is none, and finds one that is there: figures of docs/statistics.md.

    .venv/bin/python tests/stats/false_alarms.py

One value per run, independent of one another. Steps are in standard deviations of the noise, which is normal.
"""

from __future__ import annotations

import numpy as np

from plimsoll.stats.compare.trend import changes

SERIES = 2000
LENGTHS = (10, 20, 30, 50, 100)
STEPS = ((5, 5, 4.0), (3, 3, 4.0), (20, 3, 4.0), (20, 5, 3.0), (20, 10, 2.0))
"""Runs before, runs after, the step."""


def main() -> None:
    rng = np.random.default_rng(1)
    noises = {
        "normal": lambda length: 100 + rng.normal(size=length),
        "lognormal, σ 0.3": lambda length: np.exp(0.3 * rng.normal(size=length)),
    }
    print("| runs |", " | ".join(map(str, LENGTHS)), "|")
    for name, noise in noises.items():
        alarms = [np.mean([bool(changes(noise(length)).changes) for _ in range(SERIES)]) for length in LENGTHS]
        print(f"| {name} |", " | ".join(f"{100 * share:.1f} %" for share in alarms), "|", flush=True)
    for before, after, step in STEPS:
        level = np.repeat([100, 100 + step], [before, after])
        found = [changes(level + rng.normal(size=level.size)).changes for _ in range(SERIES)]
        near = np.mean([any(abs(each.index - before) <= 1 for each in one) for one in found])
        print(
            f"{before} runs, a step of {step:g} σ, {after} runs: found in {100 * near:.0f} %, at most one run away",
            flush=True,
        )


if __name__ == "__main__":
    main()
