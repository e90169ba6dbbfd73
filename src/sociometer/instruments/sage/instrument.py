"""The instrument's table of contents."""

from pathlib import Path

from sociometer.core.task import Instrument, Task
from sociometer.instruments.sage import build, figures, items, play, scoring
from sociometer.instruments.sage.analyses import coordinate, rejudge, relationship, stability, strategies, whatif
from sociometer.instruments.sage.dialogue import Dialogue, StoredDialogue
from sociometer.instruments.sage.players import AppraisalPerson, CueJudge
from sociometer.instruments.sage.published import reproduce

DIALOGUE = Task(
    "dialogue",
    items.Scenario,
    Dialogue,
    items=items.scenarios,
    play=play.play_scenario,
    score=scoring.score,
    summarise=scoring.summarise,
)
REJUDGE = Task(
    "rejudge",
    StoredDialogue,
    Dialogue,
    play=rejudge.rejudge,
    score=lambda item, outcome: scoring.score(item.scenario, outcome),
    summarise=scoring.summarise,
)
RELATIONSHIP = Task(
    "relationship",
    StoredDialogue,
    relationship.Relationship,
    play=relationship.judge_relationship,
    score=relationship.score,
    summarise=relationship.summarise,
)
STRATEGIES = Task(
    "strategies",
    StoredDialogue,
    strategies.LabelledDialogue,
    play=strategies.label,
    score=strategies.score,
    summarise=strategies.summarise,
)
COORDINATE = Task(
    "coordinate",
    StoredDialogue,
    coordinate.Coordinate,
    play=coordinate.place,
    score=coordinate.score,
    summarise=coordinate.summarise,
)
STABILITY = Task(
    "stability",
    stability.Context,
    stability.Stability,
    play=stability.judge_again,
    score=stability.score,
    summarise=stability.summarise,
)
WHAT_IF = Task(
    "what-if",
    whatif.Fork,
    whatif.Branch,
    play=whatif.play_on,
    score=whatif.score,
    summarise=whatif.summarise,
)
BUILD = Task(
    "build",
    build.Brief,
    build.Built,
    play=build.build_scenario,
    score=build.score,
    summarise=build.summarise,
)

INSTRUMENT = Instrument(
    Path(__file__).parent,
    [DIALOGUE, REJUDGE, RELATIONSHIP, STRATEGIES, COORDINATE, STABILITY, WHAT_IF, BUILD],
    players={"appraisal": AppraisalPerson, "cues": CueJudge},
    figures=figures.figures,
    beside=figures.beside,
    reproduce=reproduce.rows,
)
