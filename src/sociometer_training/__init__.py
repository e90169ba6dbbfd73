"""The id under which verifiers finds Sociometer's training environments: `sociometer-training`."""

from sociometer.core.lazy import require

require("verifiers")

from sociometer.adapters.verifiers_environment import SociometerEnv, SociometerHarness, SociometerTaskset  # noqa: E402

__all__ = ["SociometerEnv", "SociometerHarness", "SociometerTaskset"]
