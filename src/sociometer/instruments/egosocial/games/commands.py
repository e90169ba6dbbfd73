"""What the games offer on the command line: train, characters, grade, babysitting."""

from pathlib import Path

from sociometer.analysis.paired import paired_difference
from sociometer.core.errors import UsageError
from sociometer.core.measure import Cell, Table
from sociometer.core.settings import Settings
from sociometer.core.transcript import Asked
from sociometer.core.workbench import Result, StoredRun, Workbench
from sociometer.instruments.egosocial.games.blackjack import sheet
from sociometer.instruments.egosocial.games.holdem import character, curves, net
from sociometer.instruments.egosocial.games.holdem.training import Plan, Trainer


def train(bench: Workbench, options: Settings) -> Result:
    """Trains an opponent; stopped at any point, the same command goes on from the last checkpoint."""
    if options.text("game") != "holdem":
        raise UsageError(f"unknown game '{options.text('game')}' to train; only 'holdem' has trained opponents.")
    folder = Path(options.text("out") or ".")
    plan = Plan(options.text("style"), options.whole("seed"), rounds=options.whole("training-rounds"))
    checkpoint = net.weight_file(plan.style, plan.seed, folder).with_suffix(".checkpoint.npz")
    try:
        trainer = Trainer.resume(checkpoint, plan) if checkpoint.exists() else Trainer(plan)
    except RuntimeError as error:
        raise UsageError(str(error)) from error
    # Only now, so that a refusal leaves no empty folder behind.
    folder.mkdir(parents=True, exist_ok=True)
    started = trainer.round
    show = curves.Progress(plan.rounds, started)
    with show:
        trainer.train(show.step, checkpoint)
    path = trainer.write(folder)
    checkpoint.unlink(missing_ok=True)
    notes = [f"Went on from round {started}."] if started else []
    return Result(
        tables=(curves.table(trainer.curve),),
        notes=tuple(notes),
        figures=(curves.figure(trainer.curve, plan.style),),
        wrote=(str(path), str(path.with_suffix(".json"))),
    )


def characters(bench: Workbench, options: Settings) -> Result:
    """Measures every shipped opponent over many hands."""
    hands = options.whole("over")
    if hands < 100:
        raise UsageError(f"--over is {hands}; it must be 100 or more for rates that mean something.")
    return Result(tables=(character.table(character.characters(hands)),), notes=(character.HOW,))


def grade(bench: Workbench, options: Settings) -> Result:
    """Writes a sheet of a run's blackjack decisions for people to grade, or holds a filled sheet against the rule."""
    if not options.text("run"):
        raise UsageError("grade needs --run RUN, and --out FILE to write a sheet or --graded FILE to read one back.")
    run = bench.run(options.text("run"))
    if options.text("graded"):
        return Result(tables=sheet.agreement(Path(options.text("graded")), run.view("blackjack")))
    out = Path(options.text("out") or "blackjack-grading.csv")
    note = f"Fill in the last two columns with y or n, then: sociometer grade egosocial --run {run.id} --graded {out}"
    return Result(notes=(note,), wrote=(bench.write(out, sheet.write(run.view("blackjack"))),))


_COMPARED = {
    "numbers": (
        ("right", "predictions right"),
        ("error", "absolute error"),
        ("won", "rounds won"),
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


def babysitting(bench: Workbench, options: Settings) -> Result:
    """Sets the subject's replies against another model beside its replies to the steady opponent, item by item."""
    steady, seated = bench.run(options.text("steady")), bench.run(options.text("seated"))
    if steady.subject != seated.subject:
        raise UsageError(
            f"the runs have different subjects ({steady.subject}, {seated.subject}); compare one subject with itself."
        )
    tasks = [task for task in _COMPARED if task in steady.tasks and task in seated.tasks]
    if not tasks:
        raise UsageError("the runs share no game with an opponent; play numbers or holdem in both.")
    rows = [row for task in tasks for row in _compare(task, steady, seated)]
    columns = ("game", "what", "steady", "seated", "difference", "low", "high", "p", "items")
    title = f"{steady.subject}: against the steady opponent and against {_opponent(seated)}"
    return Result(tables=(Table("babysitting", title, columns, tuple(rows), note="intervals at 95 %, paired by item"),))


def _opponent(run: StoredRun) -> str:
    return next((run.view(task).roles.get("opponent", "") for task in run.tasks if task in _COMPARED), "another")


def _compare(task: str, steady: StoredRun, seated: StoredRun) -> list[tuple[Cell, ...]]:
    """One row for each value that both runs have for the same items, and one for the length of the replies."""
    first, second = _values(task, steady), _values(task, seated)
    names = (*_COMPARED[task], ("words", "words in a reply"))
    rows: list[tuple[Cell, ...]] = []
    for value, title in names:
        shared = [key for key in first if key in second and value in first[key] and value in second[key]]
        if not shared:
            continue
        found = paired_difference(
            [first[key][value] for key in shared],
            [second[key][value] for key in shared],
            items=[item for item, _ in shared],
        )
        low, high = found.interval.low, found.interval.high
        rows.append(
            (task, title, found.first, found.second, found.difference, low, high, round(found.p_value, 4), found.items)
        )
    return rows


def _values(task: str, run: StoredRun) -> dict[tuple[str, int], dict[str, float]]:
    found = {}
    for episode in run.view(task).episodes():
        if episode.score is not None:
            values = dict(episode.score.values)
            replies = [
                event.reply.text
                for event in run.transcript(task, episode.item.id, episode.repeat)
                if isinstance(event, Asked) and event.role == "subject"
            ]
            if replies:
                values["words"] = sum(len(text.split()) for text in replies) / len(replies)
            found[episode.item.id, episode.repeat] = values
    return found
