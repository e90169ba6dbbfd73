"""A linear mixed model with crossed random intercepts: means of groups that people and tasks are crossed with."""

from collections.abc import Sequence
from typing import cast

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from sociometer.core.lazy import lazy
from sociometer.statistics.intervals import cluster_codes

Floats = NDArray[np.float64]
optimize = lazy("scipy.optimize")
_MOST = 1e3
"""The largest standard deviation of a random intercept, as a multiple of the residual's."""


class MixedMeans(Struct, frozen=True):
    """The mean of each group, the covariance of these means, and the standard deviations of the random parts."""

    names: tuple[str, ...]
    means: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    deviations: tuple[float, ...]
    """Of each factor's intercepts, in the order of the factors, and of the residual at the end."""


def mixed_means(values: ArrayLike, groups: Sequence[str], factors: Sequence[Sequence[str]]) -> MixedMeans:
    """The means of groups by restricted maximum likelihood.

    value = mean of its group + an intercept for each level of each factor + residual. Reference: Bates, D. et al.
    (2015). Fitting linear mixed-effects models using lme4. Journal of Statistical Software 67.
    """
    y = np.asarray(values, np.float64)
    names = sorted(set(groups))
    x = np.array([[float(group == name) for name in names] for group in groups])
    indicators: list[Floats] = []
    sizes: list[int] = []
    for factor in factors:
        codes, count = cluster_codes(list(factor), y.size)
        indicators.append(np.eye(count)[codes])
        sizes.append(count)
    z = np.concatenate(indicators, axis=1)
    products = (z.T @ z, z.T @ x, z.T @ y, x.T @ x, x.T @ y, float(y @ y))

    def fitted(ratios: Floats) -> tuple[float, Floats, Floats, float]:
        return _fit(np.repeat(np.abs(ratios), sizes), products, y.size, len(names))

    found = optimize.minimize(
        lambda ratios: fitted(ratios)[0],
        np.full(len(sizes), 0.5),
        method="Nelder-Mead",
        bounds=[(0.0, _MOST)] * len(sizes),
        options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 4000},
    )
    ratios = cast(Floats, found.x)
    _, means, covariance, residual = fitted(ratios)
    deviations = [*(np.abs(ratios) * residual).tolist(), residual]
    return MixedMeans(
        tuple(names), tuple(means.tolist()), tuple(tuple(row) for row in covariance.tolist()), tuple(deviations)
    )


def _fit(
    scale: Floats, products: tuple[Floats, Floats, Floats, Floats, Floats, float], count: int, groups: int
) -> tuple[float, Floats, Floats, float]:
    """The restricted deviance for these scales of the intercepts, the means, their covariance and the residual."""
    zz, zx, zy, xx, xy, yy = products
    inner = np.eye(scale.size) + scale[:, None] * zz * scale[None, :]
    sx = scale[:, None] * zx
    sy = scale * zy
    solved_x = np.linalg.solve(inner, sx)
    solved_y = np.linalg.solve(inner, sy)
    information = xx - sx.T @ solved_x
    means = np.linalg.solve(information, xy - sx.T @ solved_y)
    squares = yy - float(sy @ solved_y) - float(means @ (xy - sx.T @ solved_y))
    variance = squares / (count - groups)
    deviance = (
        np.linalg.slogdet(inner)[1] + np.linalg.slogdet(information)[1] + (count - groups) * float(np.log(variance))
    )
    covariance = np.asarray(variance * np.linalg.inv(information), np.float64)
    return float(deviance), np.asarray(means, np.float64), covariance, float(np.sqrt(variance))
