"""The instrument's own command."""

from sociometer.core.command import CommandContext
from sociometer.core.instrument import Result
from sociometer.core.settings import Settings
from sociometer.instruments._recall import examine
from sociometer.instruments.seceu import recall


def contamination(context: CommandContext, options: Settings) -> Result:
    """Asks every subject about pairs of public and unseen items, and says whether it knows the public ones by heart."""
    return examine(context, options, recall.recalled)
