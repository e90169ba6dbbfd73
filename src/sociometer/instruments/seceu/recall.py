"""The check for contamination on SECEU's stories: pairs of public and unseen ones."""

from pathlib import Path

from sociometer.core.errors import UsageError
from sociometer.core.source import Source
from sociometer.instruments import _recall
from sociometer.instruments.seceu.items import BUNDLED, Scenario, bundled_scenarios, official_scenarios


def recalled(source: Source, unseen: str, count: int) -> tuple[list[_recall.Pair], list[_recall.RecallItem]]:
    """The pairs of public and unseen stories, and what is asked about them."""
    language = source.settings.text("language")
    if not source.official and not unseen:
        raise UsageError("the bundled stories need unseen ones to compare with; give --unseen FILE, or --official.")
    public = official_scenarios(source, language) if source.official else bundled_scenarios(language)
    others = bundled_scenarios(language, Path(unseen) if unseen else BUNDLED)
    return _recall.recalled(map(_passage, public), map(_passage, others), count, source.seed)


def _passage(one: Scenario) -> _recall.Passage:
    return _recall.Passage(one.id, one.story, one.options, language=one.language)
