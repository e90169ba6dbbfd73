"""The instrument's table of contents."""

from collections.abc import Callable, Iterable
from pathlib import Path

from sociometer.core.instrument import Instrument
from sociometer.core.measure import Summary
from sociometer.core.source import Source
from sociometer.core.task import Task
from sociometer.instruments.egosocial import conversion, figures, items, paper, play, scoring, worlds
from sociometer.instruments.egosocial.games import players
from sociometer.instruments.egosocial.games.asking import STEADY
from sociometer.instruments.egosocial.games.blackjack import match as blackjack
from sociometer.instruments.egosocial.games.blackjack import scoring as blackjack_scoring
from sociometer.instruments.egosocial.games.game import game
from sociometer.instruments.egosocial.games.holdem import match as holdem
from sociometer.instruments.egosocial.games.holdem import scoring as holdem_scoring
from sociometer.instruments.egosocial.games.numbers import match as numbers
from sociometer.instruments.egosocial.games.numbers import scoring as numbers_scoring
from sociometer.instruments.egosocial.play import Picks
from sociometer.instruments.egosocial.published import reproduce
from sociometer.instruments.egosocial.scene import Scene


def scenes(
    name: str, source: Callable[[Source], Iterable[Scene]], summarise: Callable[[scoring.Run], Summary]
) -> Task[Scene, Picks]:
    """A static scenario: scenes from one source, each told and asked in turn, with its own summary."""
    return Task(
        name,
        Scene,
        Picks,
        items=source,
        play=play.ask_scene,
        score=scoring.score,
        summarise=summarise,
        first_replies=Picks.first_replies,
    )


INSTRUMENT = Instrument(
    Path(__file__).parent,
    [
        # The static scenarios: stories and worlds of ours, then the official ones.
        scenes("generated", items.generated, scoring.summarise_generated),
        scenes("counterfactual", worlds.counterfactual, scoring.summarise_twins),
        scenes("worlds", worlds.invented, scoring.summarise_worlds),
        scenes("tomi", items.tomi, scoring.summarise_tomi),
        scenes("tombench", items.tombench, scoring.summarise_tombench),
        scenes("socialfirst", worlds.socialfirst, scoring.summarise_socialfirst),
        scenes("newworld", items.newworld, scoring.summarise_newworld),
        scenes("counterfactual-official", worlds.counterfactual_official, scoring.summarise_official),
        # A hand of blackjack against the dealer: two beliefs and a move at every decision.
        game("blackjack", blackjack.Hand, blackjack.HandOutcome, blackjack, blackjack_scoring),
        # Ten rounds of number guessing against an opponent with a hidden rule.
        game("numbers", numbers.NumberMatch, numbers.NumberOutcome, numbers, numbers_scoring),
        # Limit hold'em against an opponent whose style is to be named.
        game("holdem", holdem.Match, holdem.MatchOutcome, holdem, holdem_scoring),
        # A model rewrites third-person items in the first person. Played by 'convert'.
        Task(
            "convert",
            conversion.ThirdPerson,
            conversion.Conversion,
            play=conversion.ask,
            score=conversion.score,
            summarise=conversion.summarise,
        ),
    ],
    players={STEADY: players.SteadyOpponent},
    figures=figures.figures,
    beside=figures.beside,
    paper=paper.paper,
    reproduce=reproduce.rows,
    replications=reproduce.replications,
)
