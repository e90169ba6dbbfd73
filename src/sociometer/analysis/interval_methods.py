"""Values of `Interval.method` that more than one module uses. Imports no numpy, so that commands start fast."""

CLUSTER_BOOTSTRAP = "cluster bootstrap"
NO_VARIATION = "no variation"
"""Every value was the same, so the bounds say nothing about other items."""
TOO_FEW = "too few"
"""There were too few clusters, so the interval has no bounds."""
