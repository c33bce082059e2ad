"""The interval of a percentile by resampling blocks of seconds: another way to what `woodruff` computes."""

from __future__ import annotations

import math

import numpy as np
from arch.bootstrap import CircularBlockBootstrap, optimal_block_length

from plimsoll.stats.latency.ranks import rank

RESAMPLES = 1000
LEAST_BLOCK = 5
"""Seconds."""


def bootstrap(counts, p, *, confidence=0.95, seed=1):
    """ms. Blocks go on from the end at the beginning; they are as long as Politis and White (Econometric Reviews 23,
    2004) find for the share of requests above the quantile."""
    block = _block_length(counts, counts.at_rank(rank(counts.total, p)))
    sampler = CircularBlockBootstrap(block, np.arange(counts.seconds), seed=np.random.default_rng(seed))
    drawn = [np.bincount(data[0], minlength=counts.seconds) for data, _ in sampler.bootstrap(RESAMPLES)]
    cumulated = np.cumsum(np.stack(drawn) @ counts.matrix, axis=1)
    places = np.maximum(1, np.ceil(p * cumulated[:, -1] - 1e-6))
    found = counts.values[(cumulated < places[:, None]).sum(axis=1)]
    half = (1 - confidence) / 2
    low, high = np.quantile(found, (half, 1 - half))
    return float(low), float(high)


def _block_length(counts, value):
    above = counts.matrix[:, counts.values > value].sum(axis=1)
    best = float(optimal_block_length(above / counts.matrix.sum(axis=1))["circular"].iloc[0])
    return max(LEAST_BLOCK, math.ceil(best)) if math.isfinite(best) else LEAST_BLOCK
