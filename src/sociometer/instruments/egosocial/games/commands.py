"""The commands of the games: characters, grade, babysitting."""

from collections.abc import Sequence
from pathlib import Path

from sociometer.core.command import CommandContext, Run
from sociometer.core.conversation import Exchange
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Result
from sociometer.core.measure import Cell, Table
from sociometer.core.settings import Settings
from sociometer.instruments.egosocial.games.blackjack import judging
from sociometer.instruments.egosocial.games.blackjack.judge import RIGHT_ABOVE
from sociometer.instruments.egosocial.games.holdem import character, net
from sociometer.instruments.egosocial.games.players import is_steady
from sociometer.statistics.paired import paired_difference


def characters(context: CommandContext, options: Settings) -> Result:
    """Measures every opponent, bundled or trained by the user, over many hands."""
    hands = options.whole("over")
    if hands < 100:
        raise UsageError(f"--over is {hands}; it must be 100 or more for meaningful rates.")
    folder = Path(options.text("weights")) if options.text("weights") else net.WEIGHTS
    return Result(tables=(character.table(character.characters(hands, folder=folder)),), notes=(character.HOW,))


def grade(context: CommandContext, options: Settings) -> Result:
    """Writes a sheet of a run's blackjack decisions for people to grade, or compares people and a judge."""
    if not options.text("run"):
        raise UsageError("grade needs --run RUN, and --to FILE to write a sheet or --graded FILE to evaluate one.")
    run = context.run(options.text("run"))
    if "blackjack" not in run.tasks:
        raise UsageError(
            f"run {run.id} played {', '.join(run.tasks)} but not blackjack, so there is nothing to grade. "
            "Play it with: sociometer run egosocial --task blackjack --model MODEL"
        )
    view = run.view("blackjack")
    people = judging.read_people(Path(options.text("graded")), view) if options.text("graded") else {}
    judge: dict[str, float] = {}
    scale = 10
    if options.flag("judge"):
        judged = context.play("beliefs", items=list(judging.beliefs_of(view))).view("beliefs")
        judge = {item.id: outcome.grade for item, outcome, _ in judged.scored() if outcome.grade is not None}
        scale = next((outcome.scale for _, outcome, _ in judged.scored()), scale)
    if people or judge:
        graders = judging.Graders(people, judge, RIGHT_ABOVE[scale])
        tables = [judging.table(graders)]
        if people:
            tables.append(judging.disagreements(view, graders))
        return Result(tables=tuple(tables))
    out = Path(options.text("to") or "blackjack-grading.csv")
    note = f"Fill in the last two columns with y or n, then: sociometer egosocial grade --run {run.id} --graded {out}"
    return Result(notes=(note,), wrote=(context.write(out, judging.write(view)),))


_Values = dict[tuple[str, int], dict[str, float]]
_COMPARED = {
    "numbers": (
        ("right", "predictions right"),
        ("error", "absolute error"),
        ("faults", "faults"),
    ),
    "holdem": (
        ("chips", "chips a hand"),
        ("raises", "raise rate"),
        ("calls", "call rate"),
        ("checks", "check rate"),
        ("folds", "fold rate"),
        ("faults", "faults"),
    ),
}


def babysitting(context: CommandContext, options: Settings) -> Result:
    """Compares the subject's play against another model with its play against the steady opponent, item by item."""
    steady, seated = context.run(options.text("steady")), context.run(options.text("seated"))
    if steady.subject != seated.subject:
        raise UsageError(
            f"the runs have different subjects ({steady.subject}, {seated.subject}); compare one subject with itself."
        )
    tasks = [task for task in _COMPARED if task in steady.tasks and task in seated.tasks]
    if not tasks:
        raise UsageError("the runs share no game with an opponent; play numbers or holdem in both.")
    _refuse_wrong_runs(tasks, steady, seated)
    rows = [row for task in tasks for row in _compare(task, steady, seated)]
    if not rows:
        raise UsageError(f"runs {steady.id} and {seated.id} have nothing to compare: no item was scored in both.")
    columns = ("game", "what", "steady", "seated", "difference", "low", "high", "p", "items")
    title = f"{steady.subject}: against the steady opponent and against {' and '.join(_opponents(tasks, seated))}"
    note = (
        "Hold'em: 95 % intervals, paired by item. Number guessing against a model is a single match: means "
        "only, no interval or test."
    )
    return Result(tables=(Table("babysitting", title, columns, tuple(rows), note=note),))


def _opponents(tasks: Sequence[str], run: Run) -> list[str]:
    """Return the opponents of a run."""
    found = {outcome.opponent for task in tasks for _, outcome, _ in run.view(task).scored()}
    return sorted(found)


def _refuse_wrong_runs(tasks: Sequence[str], steady: Run, seated: Run) -> None:
    others = [name for name in _opponents(tasks, steady) if not is_steady(name)]
    if others:
        raise UsageError(
            f"run {steady.id} was played against {', '.join(others)}, not the steady opponent; --steady needs a run"
            " without --role opponent=MODEL."
        )
    if any(is_steady(name) for name in _opponents(tasks, seated)):
        raise UsageError(
            f"run {seated.id} was played against the steady opponent; --seated needs one with --role opponent=MODEL."
        )


def _compare(task: str, steady: Run, seated: Run) -> list[tuple[Cell, ...]]:
    """One row for each value that both runs have, and one for the length of the replies."""
    first, second = _values(task, steady), _values(task, seated)
    rows: list[tuple[Cell, ...]] = []
    for value, title in (*_COMPARED[task], ("words", "words in a reply")):
        if task == "numbers":
            row = _means(value, first, second)
        else:
            row = _paired(value, first, second)
        rows += [(task, title, *row)] if row else []
    return rows


def _paired(value: str, first: _Values, second: _Values) -> tuple[Cell, ...] | None:
    shared = [key for key in first if key in second and value in first[key] and value in second[key]]
    if not shared:
        return None
    found = paired_difference(
        [first[key][value] for key in shared],
        [second[key][value] for key in shared],
        items=[item for item, _ in shared],
    )
    low, high = found.interval.low, found.interval.high
    return found.first, found.second, found.difference, low, high, round(found.p_value, 4), found.items


def _means(value: str, first: _Values, second: _Values) -> tuple[Cell, ...] | None:
    """The means of all matches, side by side: a model as opponent plays one match, which matches none of the rules'."""
    sides = [[values[value] for values in side.values() if value in values] for side in (first, second)]
    if not all(sides):
        return None
    steady, seated = (sum(side) / len(side) for side in sides)
    return steady, seated, seated - steady, None, None, None, 1


def _values(task: str, run: Run) -> _Values:
    found: _Values = {}
    for episode in run.view(task).episodes():
        if episode.score is not None:
            values = dict(episode.score.values)
            replies = [
                event.reply.text
                for event in run.transcript(episode.item.id, task, episode.repeat)
                if isinstance(event, Exchange) and event.role == "subject"
            ]
            if replies:
                values["words"] = sum(len(text.split()) for text in replies) / len(replies)
            found[episode.item.id, episode.repeat] = values
    return found
