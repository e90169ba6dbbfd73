"""The instrument's own commands: analyses over several subjects."""

from pathlib import Path

import msgspec

from sociometer.core.command import CommandContext
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Result
from sociometer.core.settings import Settings
from sociometer.instruments._recall import examine
from sociometer.instruments.seceu import contrasts, recall
from sociometer.statistics.formatting import stand_in_notes
from sociometer.statistics.model_kinds import read_properties

TASK = "feelings"


def analyse(context: CommandContext, options: Settings) -> Result:
    """Contrasts between kinds of models."""
    runs = [context.run(reference) for reference in options.texts("runs")]
    if not (runs and options.text("models")) and not options.flag("published"):
        raise UsageError(
            "analyse needs stored runs and --models FILE about them, or --published for the paper's models."
        )
    subjects = [contrasts.subject_of(run) for run in runs]
    published = contrasts.published_subjects() if options.flag("published") else []
    properties = read_properties(Path(options.text("models"))) if options.text("models") else {}
    found = contrasts.analysis(subjects, published, properties)
    return msgspec.structs.replace(found, notes=(*stand_in_notes(run.view(TASK) for run in runs), *found.notes))


def contamination(context: CommandContext, options: Settings) -> Result:
    """Asks every subject about pairs of public and unseen items, and says whether it knows the public ones by heart."""
    return examine(context, options, recall.recalled)
