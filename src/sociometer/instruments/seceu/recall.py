"""The check for contamination on SECEU's stories: pairs of public and unseen ones, and the task that asks them."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import structs

from sociometer.core.errors import UsageError
from sociometer.core.source import Source
from sociometer.instruments._recall.pairs import Pair, Passage, RecallItem, pair_up, recall_items
from sociometer.instruments.seceu.items import BUNDLED, Scenario, bundled_scenarios, official_scenarios


class RecalledScenario(RecallItem, frozen=True, kw_only=True, omit_defaults=True):
    """A question about a story."""

    test: Scenario | None = None

    @property
    def scenario(self) -> Scenario:
        """The scenario of the test."""
        assert self.test is not None
        return self.test


def recalled(source: Source, unseen: str, count: int) -> tuple[list[Pair], list[RecalledScenario]]:
    """The pairs of public and unseen stories, and what is asked about them."""
    language = source.settings.text("language")
    if not source.official and not unseen:
        raise UsageError("the bundled stories need unseen ones to compare with; give --unseen FILE, or --official.")
    public = list(official_scenarios(source, language) if source.official else bundled_scenarios(language))
    others = list(bundled_scenarios(language, Path(unseen) if unseen else BUNDLED))
    pairs = pair_up(_passages(public), _passages(others), count, source.seed)
    tests = {scenario.id: scenario for scenario in (*public, *others)}
    made = [
        RecalledScenario(**structs.asdict(item), test=tests[name] if item.asked == "answer" else None)
        for item, name in recall_items(pairs)
    ]
    return pairs, made


def _passages(found: Sequence[Scenario]) -> list[Passage]:
    return [Passage(one.id, one.story, one.options, language=one.language) for one in found]
