"""The instrument's table of contents."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from sociometer.core.instrument import Instrument
from sociometer.core.task import Item, Task
from sociometer.instruments.sage import build, figures, items, paper, play, scoring
from sociometer.instruments.sage.analyses import coordinate, rejudge, relationship, stability, strategies
from sociometer.instruments.sage.dialogue import Dialogue, StoredDialogue
from sociometer.instruments.sage.passport import page, people, probes, talks, verdict
from sociometer.instruments.sage.person.authors import authors_prompts
from sociometer.instruments.sage.person.rehearsal import Rehearsal
from sociometer.instruments.sage.published import reproduce


def _task(name: str, item: type[Item], outcome: type[Struct], play: Any, module: Any, **more: Any) -> Task[Any, Any]:
    """A task whose module scores and summarises it."""
    return Task(name, item, outcome, play=play, score=module.score, summarise=module.summarise, **more)


INSTRUMENT = Instrument(
    Path(__file__).parent,
    [
        # The test: a talk with a simulated person whose feelings move.
        _task("dialogue", items.Scenario, Dialogue, play.play_scenario, scoring, items=items.scenarios),
        # A person talked with the subject elsewhere, and said how they felt.
        _task("talk", talks.Matter, talks.PersonTalk, talks.play_talk, talks),
        # A person rated each reply, or the support that they got.
        _task("satisfaction", talks.Matter, talks.PersonTalk, talks.play_talk, talks),
        _task("support", talks.Matter, talks.PersonTalk, talks.play_talk, talks),
        # Another simulator judges a stored dialogue anew.
        Task(
            "rejudge", StoredDialogue, Dialogue, play=rejudge.rejudge, summarise=scoring.summarise,
            score=lambda item, outcome: scoring.score(item.scenario, outcome),
        ),
        # A judge rates how the person experienced the relationship, and the talk itself.
        _task("relationship", StoredDialogue, relationship.Relationship, relationship.judge_relationship, relationship),
        # A judge labels every reply with support strategies.
        _task("strategies", StoredDialogue, strategies.LabelledDialogue, strategies.label, strategies),
        # A judge places a dialogue on the social cognition coordinate.
        _task("coordinate", StoredDialogue, coordinate.Coordinate, coordinate.place, coordinate),
        # The simulator judges the same context many times.
        _task("stability", stability.Context, stability.Stability, stability.judge_again, stability),
        # A simulator judges turns of ours and of the release.
        Task(
            "passport", probes.Probe, probes.Felt, play=probes.ask_probe, score=probes.score,
            summarise=verdict.summarise,
        ),
        # A simulator judges turns of people's talks in the person's place.
        Task(
            "people", people.PersonProbe, people.PersonAnswer, play=people.ask_person, score=people.score,
            summarise=verdict.summarise_people,
        ),
        # A builder makes a new scenario.
        _task("build", build.Brief, build.Built, build.build_scenario, build),
    ],
    players={"rehearsal": Rehearsal},
    figures=figures.figures,
    beside=figures.beside,
    paper=paper.paper,
    reproduce=reproduce.rows,
    authors_prompts=authors_prompts,
    replications=reproduce.replications,
    notices=page.notices,
    caveat=lambda run: run.others,
)  # fmt: skip
