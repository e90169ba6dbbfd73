"""Clusters of observations: their numbers, their sums, and the cluster-robust variance of a mean."""

from collections.abc import Hashable, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Labels = Sequence[Hashable] | NDArray[Any]


def cluster_codes(labels: Labels | None, size: int) -> tuple[Integers, int]:
    """Number clusters 0, 1, … in order of first appearance; labels are names, or whole numbers in an array.

    Without labels, or with an empty label, an observation is its own cluster.
    """
    if labels is None:
        return np.arange(size, dtype=np.int64), size
    if len(labels) != size:
        raise ValueError(f"{len(labels)} cluster labels for {size} observations; give one label each")
    if _are_numbers(labels):
        return _renumbered(labels)
    numbers: dict[Hashable, int] = {}
    named = [("", place) if label == "" else label for place, label in enumerate(labels)]
    codes = np.fromiter([numbers.setdefault(label, len(numbers)) for label in named], np.int64, size)
    return codes, len(numbers)


def _are_numbers(labels: Labels | None) -> TypeGuard[Integers]:
    return isinstance(labels, np.ndarray) and labels.dtype == np.int64


def _renumbered(labels: Integers) -> tuple[Integers, int]:
    """Numbers 0, 1, … in order of first appearance, without a Python object for each observation."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    place = np.empty(first.size, dtype=np.int64)
    place[np.argsort(first)] = np.arange(first.size)
    return place[codes], first.size


def is_binary(values: Floats) -> bool:
    """Whether all values are 0 or 1."""
    return bool(((values == 0) | (values == 1)).all())


def item_means(values: Floats, clusters: Labels | None, items: Labels | None) -> tuple[Floats, Labels | None]:
    """The mean of each item over its repeats, and the cluster label of each item.

    Raises ValueError if repeats of one item have different cluster labels.
    """
    if values.ndim != 1:
        raise ValueError(f"values must be one list, not an array of shape {values.shape}")
    if np.isnan(values).any():
        raise ValueError("values contain NaN; leave failed items out before you compute an interval")
    if clusters is not None and len(clusters) != values.size:
        raise ValueError(f"{len(clusters)} cluster labels for {values.size} values; give one label each")
    if items is None:
        return values, clusters
    codes, count = cluster_codes(items, values.size)
    sizes = np.bincount(codes, minlength=count)
    means = np.bincount(codes, weights=values, minlength=count) / sizes
    if clusters is None:
        return means, None
    if _are_numbers(clusters):
        _, first = np.unique(codes, return_index=True)
        if (wrong := clusters != clusters[first][codes]).any():
            at = int(np.argmax(wrong))
            raise ValueError(f"an item is in two clusters, {clusters[first][codes[at]]} and {clusters[at]}")
        return means, clusters[first]
    owner: dict[int, Hashable] = {}
    for code, cluster in zip(codes.tolist(), clusters, strict=True):
        if owner.setdefault(code, cluster) != cluster:
            raise ValueError(f"an item is in two clusters, {owner[code]!r} and {cluster!r}")
    return means, [owner[code] for code in range(count)]


def cluster_sums(table: Floats, codes: Integers, count: int) -> tuple[Floats, Floats]:
    """Sums and sizes of every cluster for each column (observations × columns); NaN means missing."""
    present = ~np.isnan(table)
    sums = np.empty((count, table.shape[1]))
    sizes = np.empty((count, table.shape[1]))
    filled = np.where(present, table, 0.0)
    for column in range(table.shape[1]):
        sums[:, column] = np.bincount(codes, weights=filled[:, column], minlength=count)
        sizes[:, column] = np.bincount(codes, weights=present[:, column].astype(np.float64), minlength=count)
    return sums, sizes


def mean_variance(values: Floats, codes: Integers, count: int) -> float:
    """Cluster-robust variance of the mean: G/(G − 1) Σ_g (Σ_{i∈g} (x_i − x̄))² / n².

    With one observation in each cluster this is s²/n.
    """
    if count < 2:
        return float("nan")
    deviations = np.bincount(codes, weights=values - values.mean(), minlength=count)
    return float(count / (count - 1) * np.square(deviations).sum() / values.size**2)
