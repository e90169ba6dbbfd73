"""Stored runs in memory for the tests of the report, one of them with hostile replies."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec import Struct, structs

from sociometer.core.card import Card, MeasureCard, Paper, RoleCard, TaskCard
from sociometer.core.conversation import Event, Exchange, Message, Noted, Reply
from sociometer.core.form import Form
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Figure, Summary, Table
from sociometer.core.settings import Settings
from sociometer.core.task import Episode, Failure, Item, RunView, Score, Task
from sociometer.statistics.chart_parts import ReferenceLine
from sociometer.statistics.charts import HeatCell, dot_of, heat_map, interval_chart
from sociometer.statistics.measures import grouped_measures

HOSTILE = (
    "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
    "<a href='https://example.com/'>click</a> [link](javascript:window.hacked=3) {{ 7 * 7 }} \u2028 ]]> <!-- &lt;"
)


class Said(Struct, frozen=True):
    letter: str


CARD = Card(
    "tact",
    "Tact test",
    "3",
    "whether a reply is tactful",
    "four-option questions",
    (TaskCard("questions", "Questions"),),
    (RoleCard("subject", "who is measured"), RoleCard("judge", "who judges")),
    (MeasureCard("questions", "accuracy", "Accuracy", chance=0.25, human=0.9, top=1.0, primary=True, value="correct"),),
    Paper("On tact", "A. Author", 2020),
)


class FakeStoredRun:
    """A stored run in memory."""

    def __init__(
        self, run: str, subject: str, values: Sequence[float | None], reply: str = "B, I think.", **settings: str | bool
    ) -> None:
        self.id = run
        self.definition = INSTRUMENT
        self.version = "3"
        self.created = "2026-01-02 03:04 UTC"
        self.status = "finished"
        self.official = False
        config = SimpleNamespace(official=False, subject=subject, until=None, settings={}, repeats=1)
        self.manifest = SimpleNamespace(config=config, roles={})
        self.record = SimpleNamespace(name="")
        self.store_path = None
        self.subject = subject
        self.people = 0
        self.revision = ""
        self.tasks: tuple[str, ...] = ("questions",)
        self.all_tasks = self.tasks
        self.past: dict[str, str] = {}
        self.judge = "tact/rules"
        self.stand_ins: tuple[str, ...] = ("judge: tact/rules",)
        self._values = values
        self._reply = reply
        self._settings = settings

    @property
    def reference(self) -> str:
        return self.id

    @property
    def instrument(self) -> str:
        return self.definition.card.name

    def view(self, task: str = "") -> RunView:
        def episodes() -> Iterator[Episode]:
            for place, value in enumerate(self._values):
                item = Item(id=f"q{place:02}")
                if value is None:
                    yield Episode(item, 0, None, None, Failure("timeout", "no answer " + self._reply))
                else:
                    facets = {"ability": "empathy" if place % 2 else "influence"}
                    unreadable = int(place == 5)
                    score = Score(values={"correct": value}, facets=facets, unreadable=unreadable)
                    yield Episode(item, 0, Said(self._reply), score, None)

        roles = {"subject": self.subject, "judge": self.judge}
        return RunView(
            episodes,
            Settings({"language": "en", "factors": ("age", "role"), **self._settings}),
            subject=self.subject,
            roles=roles,
            run=self.id,
            stand_ins=self.stand_ins,
            name=self.subject,
            task="questions",
            card=self.definition.card,
            version=self.version,
            created=self.created,
            status=self.status,
            whose_items="official" if self.official else "bundled",
            form=self.form("questions"),
            baseline=self.manifest.config.subject.startswith("baseline/"),
        )

    def form(self, task: str) -> Form:
        return Form(
            test=self.definition.card.name,
            task=task,
            version=self.version,
            whose_items="official" if self.official else "bundled",
            roles={"judge": self.judge},
        )

    def summarised(self, task: str = "") -> RunView:
        return structs.replace(self.view(task), summary=self.summary(task))

    def summary(self, task: str = "") -> Summary:
        measures = grouped_measures(self.view(), "correct", "accuracy", by=("ability",))
        return Summary(measures, notes=("The key is its authors' judgement.",))

    def stopping(self, task: str) -> None:
        """It has no stopping rule."""

    def counted(self, task: str) -> str:
        return ""

    def transcript(self, item: str, task: str = "", repeat: int = 0) -> tuple[Event, ...]:
        first = (Message("system", "You are kind."), Message("user", f"Question {item}: what do you say? " + "x" * 20))
        again = (*first, Message("assistant", self._reply), Message("user", "Are you sure?"))
        return (
            Exchange("subject", self.subject, first, Reply(self._reply, reasoning="hm " + self._reply)),
            Noted("move", {"chosen": self._reply, "price": 0.123456}),
            Exchange("subject", self.subject, again, Reply("Yes.")),
        )


def _figures(runs: Sequence[RunView]) -> tuple[Figure, ...]:
    dots = [
        dot
        for run in runs
        for measure in run.summary.measures
        if (dot := dot_of(measure.group.get("ability", "all"), measure, run.subject)) is not None
    ]
    chart = interval_chart(dots, title="accuracy", domain=(0, 1), references=[ReferenceLine("chance", 0.25)])
    cells = [HeatCell(run.subject, HOSTILE, 0.5, "*") for run in runs]
    table = Table("t", "Table", ("who", "how much"), tuple((run.subject, 0.25) for run in runs), note="A note.")
    return (
        Figure("abilities", "Accuracy by ability", "With intervals.", chart),
        Figure("heat", "A heat map " + HOSTILE, "", heat_map(cells)),
        Figure("table", "A table", table=table),
    )


def _beside(item: Item, outcome: Said) -> Figure:
    if item.id == "q00":
        return Figure("path", "The path", chart=heat_map([HeatCell("a", "b", 0.5)]))
    rows = (("said", outcome.letter), ("right", True))
    return Figure("options", "Options", table=Table("o", "Options", ("what", "which"), rows))


def never(*_: object) -> Any:
    """What the album's runs were made with; here nothing is played."""
    raise AssertionError


FOLDER = Path(__file__).parent
TASKS = [Task("questions", Item, Said, play=never, score=never, summarise=never)]
INSTRUMENT = Instrument(FOLDER, TASKS, card=CARD, figures=_figures, beside=_beside)
VALUES = {"plain": [1.0, 0.0] * 20, "better": [1.0] * 38 + [None, 0.0], "hostile": [0.0] * 30 + [1.0] * 10}


def changed(run: FakeStoredRun, **changes: object) -> FakeStoredRun:
    """The run with other attributes."""
    for name, value in changes.items():
        setattr(run, name, value)
    return run


def given() -> list[FakeStoredRun]:
    """Three runs: a plain subject, a better one with a failure, and a hostile one."""
    hostile = FakeStoredRun("run-3", "hostile " + HOSTILE, VALUES["hostile"], HOSTILE)
    return [
        FakeStoredRun("run-1", "plain", VALUES["plain"]),
        changed(FakeStoredRun("run-2", "better", VALUES["better"]), created="2026-01-02 03:05 UTC"),
        changed(hostile, created="2026-01-02 03:06 UTC", status="stopped"),
    ]
