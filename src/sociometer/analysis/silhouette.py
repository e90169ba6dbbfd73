"""Silhouettes: how much nearer a vector is to those with its own label than to those with the nearest other label.

Reference: Rousseeuw, P. J. (1987). Silhouettes: a graphical aid to the interpretation and validation of cluster
analysis. Journal of Computational and Applied Mathematics 20.
"""

import numpy as np
from numpy.typing import NDArray

from sociometer.analysis.clusters import Integers

_COLUMNS = 4096


def cosine_distances(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """1 − cosine of each pair of rows; a row of zeros is at distance 1 from all others."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(lengths > 0, lengths, 1)
    distances = np.clip(1 - unit @ unit.T, 0, 2).astype(np.float32)
    np.fill_diagonal(distances, 0)
    return distances


def silhouettes(distances: NDArray[np.float32], label_sets: Integers) -> NDArray[np.float64]:
    """The mean silhouette of each row of labels (label sets × items; labels are 0, 1, …).

    s = (b − a) / max(a, b), a the mean distance to the others with the same label, b the smallest mean distance to the
    items of another label. An item that is alone with its label has 0.
    """
    kinds = int(label_sets.max()) + 1
    step = max(1, _COLUMNS // kinds)
    parts = [_batch(distances, label_sets[at : at + step], kinds) for at in range(0, len(label_sets), step)]
    return np.concatenate(parts)


def _batch(distances: NDArray[np.float32], label_sets: Integers, kinds: int) -> NDArray[np.float64]:
    sets, items = label_sets.shape
    indicator = (label_sets[:, :, None] == np.arange(kinds)).astype(np.float32)
    sizes = indicator.sum(axis=1)[:, None, :]
    flat = indicator.transpose(1, 0, 2).reshape(items, sets * kinds)
    sums = (distances @ flat).reshape(items, sets, kinds).transpose(1, 0, 2)
    own = indicator.astype(bool)
    own_size = np.broadcast_to(sizes, sums.shape)[own].reshape(sets, items)
    inside = sums[own].reshape(sets, items) / np.maximum(own_size - 1, 1)
    others = np.where(own | (sizes == 0), np.inf, sums / np.maximum(sizes, 1)).min(axis=2)
    larger = np.maximum(inside, others)
    values = np.where(
        (own_size > 1) & np.isfinite(others) & (larger > 0), (others - inside) / np.where(larger > 0, larger, 1), 0.0
    )
    return np.asarray(values.mean(axis=1), dtype=np.float64)
