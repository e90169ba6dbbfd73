"""The instrument's table of contents."""

from pathlib import Path

from sociometer.core.instrument import Instrument
from sociometer.core.task import Task
from sociometer.instruments.sage import build, figures, items, paper, play, scoring
from sociometer.instruments.sage.analyses import candour, coordinate, relationship, stability, strategies, whatif
from sociometer.instruments.sage.dialogue import Dialogue, StoredDialogue
from sociometer.instruments.sage.person import asked
from sociometer.instruments.sage.person.rehearsal import Rehearsal
from sociometer.instruments.sage.players import CueJudge
from sociometer.instruments.sage.published import reproduce
from sociometer.instruments.sage.simulators import passport

INSTRUMENT = Instrument(
    Path(__file__).parent,
    [
        # The test: a talk with a simulated person whose feelings move.
        Task(
            "dialogue",
            items.Scenario,
            Dialogue,
            items=items.scenarios,
            play=play.play_scenario,
            score=scoring.score,
            summarise=scoring.summarise,
        ),
        # Scenarios of ours in which what the person wants to hear is not what helps.
        Task(
            "hard-talks",
            items.HardTalk,
            Dialogue,
            items=items.hard_talks,
            play=play.play_scenario,
            score=scoring.score_talk,
            summarise=scoring.summarise_talks,
        ),
        # Another simulator judges a stored dialogue anew.
        Task(
            "rejudge",
            StoredDialogue,
            Dialogue,
            play=whatif.rejudge,
            score=lambda item, outcome: scoring.score(item.scenario, outcome),
            summarise=scoring.summarise,
        ),
        # A judge rates how the person experienced the relationship, and the talk itself.
        Task(
            "relationship",
            StoredDialogue,
            relationship.Relationship,
            play=relationship.judge_relationship,
            score=relationship.score,
            summarise=relationship.summarise,
        ),
        # A judge labels every reply with support strategies.
        Task(
            "strategies",
            StoredDialogue,
            strategies.LabelledDialogue,
            play=strategies.label,
            score=strategies.score,
            summarise=strategies.summarise,
        ),
        # A judge places a dialogue on the social cognition coordinate.
        Task(
            "coordinate",
            StoredDialogue,
            coordinate.Coordinate,
            play=coordinate.place,
            score=coordinate.score,
            summarise=coordinate.summarise,
        ),
        # A judge answers yes/no questions about every reply: sycophancy and safety.
        Task(
            "candour",
            candour.JudgedTalk,
            candour.Candour,
            play=candour.judge_candour,
            score=candour.score,
            summarise=candour.summarise,
        ),
        # The simulator judges the same context many times.
        Task(
            "stability",
            stability.Context,
            stability.Stability,
            play=stability.judge_again,
            score=stability.score,
            summarise=stability.summarise,
        ),
        # A simulator judges turns of ours and of the release.
        Task(
            "passport",
            passport.Probe,
            passport.Felt,
            play=passport.ask_probe,
            score=passport.score,
            summarise=passport.summarise,
        ),
        # A stored dialogue with one reply replaced, played on to its end.
        Task(
            "what-if",
            whatif.Fork,
            whatif.Branch,
            play=whatif.play_on,
            score=whatif.score,
            summarise=whatif.summarise,
        ),
        # A builder makes a new scenario.
        Task(
            "build",
            build.Brief,
            build.Built,
            play=build.build_scenario,
            score=build.score,
            summarise=build.summarise,
        ),
    ],
    players={"rehearsal": Rehearsal, "cues": CueJudge},
    figures=figures.figures,
    beside=figures.beside,
    paper=paper.paper,
    reproduce=reproduce.rows,
    authors_prompts=asked.authors_prompts,
    replications=reproduce.replications,
    notices=passport.notices,
)
