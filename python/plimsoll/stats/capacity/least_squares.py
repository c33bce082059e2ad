"""A fit of a few parameters within bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

_MOST_STEPS = 500
_FIRST_DAMPING, _MOST_DAMPING = 1e-3, 1e12


def least_squares(
    residuals: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    jacobian: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    start: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    tolerance: float = 1e-13,
) -> tuple[NDArray[np.float64], float]:
    """The parameters near `start` and within their bounds with the least sum of squares, and that sum.

    The method of Levenberg and Marquardt, with the damping scaled by the columns (Moré, LNM 630, 1978). A step that
    leaves the bounds ends at them. A parameter at its bound that could improve only beyond it is fixed for that step
    (Bertsekas, SIAM J. Control Optim. 20, 1982). Ends when a step changes no parameter by more than `tolerance` of it.
    """
    least, most = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    at = np.clip(np.asarray(start, dtype=np.float64), least, most)
    off = residuals(at)
    squares, damping = float(off @ off), _FIRST_DAMPING
    for _ in range(_MOST_STEPS):
        slopes = jacobian(at)
        downhill = -slopes.T @ off
        free = ~((at <= least) & (downhill < 0) | (at >= most) & (downhill > 0)) & (np.abs(slopes).max(axis=0) > 0)
        if not free.any():
            break
        curvature = slopes[:, free].T @ slopes[:, free]
        while damping <= _MOST_DAMPING:
            damped = curvature + damping * np.diag(np.diag(curvature))
            step = np.zeros_like(at)
            step[free] = np.linalg.solve(damped, downhill[free])
            further = np.clip(at + step, least, most)
            there = residuals(further)
            if float(there @ there) <= squares:
                break
            damping *= 4
        else:
            break
        moved = np.abs(further - at) > tolerance * np.abs(further)
        at, off, squares = further, there, float(there @ there)
        damping /= 10
        if not moved.any():
            break
    return at, squares
