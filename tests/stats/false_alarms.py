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
    print("looked at after each run from the tenth to the fortieth, any alarm:")
    for name, share in again_and_again(rng, SERIES // 10).items():
        print(f"{name}: {100 * share:.0f} %", flush=True)
    found = outliers(rng, SERIES // 10)
    print(f"a step of 20 % at 4 % noise: found in {100 * found[0]:.0f} %, beside an outlier in {100 * found[1]:.0f} %")


def again_and_again(rng: np.random.Generator, series: int) -> dict[str, float]:
    """The share of series in which some look finds a change."""
    drawn = {name: rng.normal(size=(series, 40)) for name in ("independent runs", "runs that correlate by 0.6")}
    correlated = drawn["runs that correlate by 0.6"]
    for place in range(1, 40):
        correlated[:, place] = 0.6 * correlated[:, place - 1] + 0.8 * correlated[:, place]
    return {
        name: float(np.mean([any(changes(100 + row[:stop]).changes for stop in range(10, 41)) for row in rows]))
        for name, rows in drawn.items()
    }


def outliers(rng: np.random.Generator, series: int) -> tuple[float, float]:
    """How often a step of 20 % in the middle of 30 runs is found: without, and with one outlier among the first ten."""
    found = []
    for outlier in (1.0, 5.0):
        values = np.repeat([100.0, 120.0], 15) * np.exp(0.04 * rng.normal(size=(series, 30)))
        values[:, 5] *= outlier
        near = [any(abs(each.index - 15) <= 1 for each in changes(row).changes) for row in values]
        found.append(float(np.mean(near)))
    return found[0], found[1]


if __name__ == "__main__":
    main()
