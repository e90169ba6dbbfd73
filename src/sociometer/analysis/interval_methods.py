"""Values of `Interval.method` that more than one module writes or reads. Imports nothing, so any command can use it."""

CLUSTER_BOOTSTRAP = "cluster bootstrap"
NO_VARIATION = "no variation"
"""Every value was the same, so the bounds say nothing about other items."""
TOO_FEW = "too few"
"""There were too few clusters, so the interval has no bounds."""
