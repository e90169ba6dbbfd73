"""Number guessing: outcome -> score -> summary."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from sociometer.analysis.measures import grouped_measures
from sociometer.core.measure import Measure, Summary, Table
from sociometer.core.reply_kind import count_replies
from sociometer.core.task import Episode, RunView, Score
from sociometer.instruments.egosocial.games.numbers.match import NumberMatch, NumberOutcome
from sociometer.instruments.egosocial.games.numbers.opponents import SEATED
from sociometer.instruments.egosocial.games.numbers.patterns import TOLERANCE, Patterns, find, is_right
from sociometer.instruments.egosocial.games.numbers.rules import Round
from sociometer.instruments.egosocial.games.players import is_steady


def opponent_of(item: NumberMatch, outcome: NumberOutcome) -> str:
    """Return the opponent: the rule's name, or the model seated in its place."""
    return item.opponent if is_steady(outcome.opponent) else outcome.opponent


def patterns_of(outcome: NumberOutcome) -> Patterns:
    """Return the patterns in a match's predictions."""
    return find([one.prediction for one in outcome.rounds], [one.opponent for one in outcome.rounds])


def score(item: NumberMatch, outcome: NumberOutcome) -> Score:
    """The share of right predictions, their error, rounds won and patterns; an unreadable prediction is wrong."""
    rounds = outcome.rounds
    right = [is_right(one.prediction, one.opponent) for one in rounds]
    errors = [abs(one.prediction - one.opponent) for one in rounds if one.prediction is not None]
    wins = [Round(one.choice, one.opponent).winner for one in rounds]
    found = patterns_of(outcome)
    values = {
        "right": sum(right) / len(right),
        "won": sum(win == 1 for win in wins) / len(wins),
        "learnt": float(found.learnt_at is not None),
        "mid_point": float(found.mid_point_belief),
        "strange": float(found.strange_guess is not None),
        "back_on_track": float(found.back_on_track is not None),
        "always_smaller": float(found.always_smaller),
        "faults": sum(one.faults.count for one in rounds) / len(rounds),
    }
    if errors:
        values["error"] = sum(errors) / len(errors)
    if not is_steady(outcome.opponent):
        values["opponent_faults"] = outcome.opponent_faults.count / len(rounds)
    if found.learnt_at is not None:
        values["learnt_at"] = float(found.learnt_at)
    unreadable = sum(one.faults.defaulted for one in rounds)
    replies = count_replies(how for one in rounds for how in one.faults.asked)
    facets = {"opponent": opponent_of(item, outcome)}
    return Score(values=values, facets=facets, unreadable=unreadable, replies=replies)


_MEASURES = (
    ("right", "accuracy"),
    ("error", "absolute_error"),
    ("won", "rounds_won"),
    ("learnt", "learnt"),
    ("learnt_at", "learnt_at"),
    ("mid_point", "mid_point_belief"),
    ("strange", "strange_guess"),
    ("back_on_track", "back_on_track"),
    ("always_smaller", "always_smaller"),
    ("faults", "faults_per_round"),
    ("opponent_faults", "opponent_faults"),
)
_NO_SHARES = ("error", "learnt_at", "faults", "opponent_faults")


def summarise(run: RunView[NumberMatch, NumberOutcome]) -> Summary:
    """Accuracy, error, learning and patterns, overall and by opponent, with the learning curves."""
    measures: list[Measure] = []
    distinct = as_distinct_matches(run)
    for value, name in _MEASURES:
        binary = False if value in _NO_SHARES else None
        found = grouped_measures(distinct, value, name, by=["opponent"], binary=binary)
        measures += [one for one in found if one.items or name != "opponent_faults"]
    matches = [(opponent_of(item, outcome), outcome) for item, outcome, _ in run.scored()]
    notes = [f"A prediction is right within {TOLERANCE:g} of the opponent's number; the paper states no tolerance."]
    notes += seated_note({outcome.opponent for _, outcome in matches})
    again = {item.opponent for item, outcome, _ in run.scored() if not is_steady(outcome.opponent)}
    if len(again) > 1:
        notes.append(
            f"{len(again)} matches against one model are repeats of the same match, because the opponent's "
            f"name does not change how a model plays. Use --opponents {SEATED} to play it once."
        )
    return Summary(
        measures=tuple(measures),
        tables=(_pattern_table(matches),),
        notes=tuple(notes),
        series={"curves": _curves(matches), "matches": [_trace(name, outcome) for name, outcome in matches]},
    )


def as_distinct_matches(run: RunView[NumberMatch, NumberOutcome]) -> RunView[NumberMatch, NumberOutcome]:
    """Return the run with all matches against a seated model as repeats of one, because they all start the same way."""

    def episodes() -> Iterator[Episode[NumberMatch, NumberOutcome]]:
        for episode in run.episodes():
            if episode.outcome is None or is_steady(episode.outcome.opponent):
                yield episode
            else:
                one = f"numbers-{SEATED}-{episode.item.rounds}"
                yield msgspec.structs.replace(episode, item=msgspec.structs.replace(episode.item, id=one, cluster=one))

    return RunView(episodes, run.settings, subject=run.subject, roles=run.roles, run=run.run, stand_ins=run.stand_ins)


def seated_note(labels: set[str]) -> list[str]:
    """Return the note that another model was the opponent."""
    others = sorted(label for label in labels if not is_steady(label))
    if not others:
        return []
    return [f"The opponent was {', '.join(others)}, not a steady one: do not compare these numbers with the paper's."]


def _pattern_table(matches: Sequence[tuple[str, NumberOutcome]]) -> Table:
    rows = []
    for name, outcome in matches:
        found = patterns_of(outcome)
        hits = sum(is_right(one.prediction, one.opponent) for one in outcome.rounds)
        rows.append(
            (
                name,
                f"{hits}/{len(outcome.rounds)}",
                found.learnt_at,
                found.mid_point_belief,
                found.strange_guess,
                found.back_on_track,
                found.always_smaller,
            )
        )
    return Table(
        "patterns",
        "Beliefs about the opponent by match",
        (
            "opponent",
            "right",
            "always right from",
            "mid-point",
            "strange guess at",
            "back on track at",
            "always smaller",
        ),
        tuple(rows),
        note="rounds are counted from 1; empty: never",
    )


def _curves(matches: Sequence[tuple[str, NumberOutcome]]) -> list[dict[str, Any]]:
    """Return accuracy and mean error round by round for each opponent."""
    cells: dict[tuple[str, int], list[tuple[bool, float | None]]] = {}
    for name, outcome in matches:
        for number, one in enumerate(outcome.rounds, 1):
            error = None if one.prediction is None else abs(one.prediction - one.opponent)
            cells.setdefault((name, number), []).append((is_right(one.prediction, one.opponent), error))
    curves = []
    for (name, number), seen in sorted(cells.items()):
        errors = [error for _, error in seen if error is not None]
        curves.append(
            {
                "opponent": name,
                "round": number,
                "accuracy": sum(right for right, _ in seen) / len(seen),
                "error": sum(errors) / len(errors) if errors else None,
                "matches": len(seen),
            }
        )
    return curves


def _trace(name: str, outcome: NumberOutcome) -> dict[str, Any]:
    return {
        "opponent": name,
        "predictions": [one.prediction for one in outcome.rounds],
        "numbers": [one.opponent for one in outcome.rounds],
        "choices": [one.choice for one in outcome.rounds],
    }
