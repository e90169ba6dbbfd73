"""The social cognition coordinate: feelings or solutions, structured or free."""

from statistics import pstdev
from typing import Annotated

from msgspec import Meta, Struct

from sociometer.core.measure import Measure, Summary
from sociometer.core.session import Session
from sociometer.core.task import RunView, Score
from sociometer.instruments.sage.dialogue import StoredDialogue
from sociometer.instruments.sage.judges.asking import ask_judge, rendered, simulators_met
from sociometer.instruments.sage.person.talk import quote_mark
from sociometer.reading import object_schema
from sociometer.statistics.measures import grouped_measures, observations

REACH = 10
AXES = ("solution", "creative")
Place = Annotated[int, Meta(ge=-REACH, le=REACH)]
_PLACE = {"type": "integer", "minimum": -REACH, "maximum": REACH}
SCHEMA = object_schema({"reason": {"type": "string"}, **dict.fromkeys(AXES, _PLACE)})


class Coordinate(Struct, frozen=True, forbid_unknown_fields=True):
    """The position of a dialogue's manner: from feeling to solving, from structured to free."""

    reason: str
    solution: Place
    creative: Place


async def place(item: StoredDialogue, session: Session) -> Coordinate:
    """Asks the judge to place one dialogue."""
    language, talk = item.scenario.language, item.dialogue.said(len(item.dialogue.turns))
    mark = quote_mark(item.scenario, talk)
    prompt = session.prompts.render("coordinate", language, mark=mark, talk=rendered(talk, mark, session, language))
    return await ask_judge(session, prompt, SCHEMA, Coordinate, "coordinate", language)


def score(item: StoredDialogue, outcome: Coordinate) -> Score:
    """Both coordinates."""
    return Score(
        values={name: float(getattr(outcome, name)) for name in AXES}, facets={"intention": item.scenario.intention}
    )


def summarise(run: RunView[StoredDialogue, Coordinate]) -> Summary:
    """The mean position with its interval, and the spread over dialogues."""
    measures: list[Measure] = []
    for axis in AXES:
        measures.extend(grouped_measures(run, axis, binary=False))
        values = [row.value for row in observations(run, axis)]
        measures.append(Measure(f"{axis}-spread", pstdev(values) if len(values) > 1 else None, items=len(values)))
    return Summary(tuple(measures), series={"simulators": simulators_met(run)})
