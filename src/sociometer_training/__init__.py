"""The id under which verifiers finds Sociometer's training environments: `sociometer-training`."""

from sociometer.adapters.verifiers_environment import SociometerEnv, SociometerHarness, SociometerTaskset

__all__ = ["SociometerEnv", "SociometerHarness", "SociometerTaskset"]
