"""Vectors on a plane by t-SNE: a picture of neighbourhoods, not a test of anything.

Reference: van der Maaten, L., and Hinton, G. (2008). Visualizing data using t-SNE. JMLR 9.
"""

import numpy as np
from numpy.typing import NDArray

from sociometer.core.errors import UsageError

_PERPLEXITY = 30
_COMPONENTS = 50


def plane(vectors: NDArray[np.float32], *, seed: int = 0) -> NDArray[np.float64]:
    """Two coordinates for each row, centred and scaled to a spread of one.

    The first 50 principal components go into t-SNE, with perplexity 30, or a quarter of the rows if that is less.
    """
    rows = len(vectors)
    if rows < 4:
        raise UsageError(f"{rows} utterances are too few for a plane; t-SNE needs at least 4.")
    try:
        from sklearn.manifold import TSNE
    except ImportError:
        raise UsageError(
            "looking inside a model needs the extra 'inside'; install it with: pip install 'sociometer[inside]'."
        ) from None
    left, sizes, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    components = (left * sizes)[:, :_COMPONENTS]
    if not np.any(components):
        return np.zeros((rows, 2))
    perplexity = max(1.0, min(_PERPLEXITY, (rows - 1) / 4))
    fitted = TSNE(perplexity=perplexity, init="pca", random_state=seed % 2**32).fit_transform(components)
    points = np.asarray(fitted, dtype=np.float64)
    points -= points.mean(axis=0)
    return points / max(float(points.std()), 1e-9)
