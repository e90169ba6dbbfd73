"""Table 2's number-guessing columns, recomputed from the predictions that the authors published."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from sociometer.core.measure import PublishedFigure
from sociometer.core.sheets import read_records, read_table
from sociometer.instruments.egosocial.games.numbers.patterns import is_right

FOLDER = Path(__file__).parents[2] / "published"
TRUE_NUMBERS = {1: [50.0] * 10, 2: [50.0 - 5 * index for index in range(10)]}
MODELS = {
    "Llama3-8b-chat-hf": "LLaMa-3-8B-Chat",
    "Llama3-70b-chat-hf": "LLaMa-3-70B-Chat",
    "Llama3-8b-Instruct-Turbo": "LLaMa-3-8B-Instruct",
    "Llama3.1-405b-Instruct-Turbo": "LLaMa-3.1-405B-Instruct",
    "Claude-3-5-Sonnet-20240620": "Claude-3-5-Sonnet",
    "GPT-3.5-Turbo": "GPT-3.5-Turbo",
    "GPT-4-Turbo": "GPT-4-Turbo",
    "GPT-4o": "GPT-4o",
    "o1-preview": "o1-preview",
}
_TICKS_ONLY = {
    3: "counted from the authors' ticks: the opponent's numbers depend on choices that were not published",
}
_NO_PREDICTIONS = "counted from the authors' ticks: this model's predictions were not published"


class Prediction(Struct, frozen=True):
    """What a model predicted in one round, and whether the authors ticked it as correct."""

    model: str
    level: int
    marked_correct: bool
    prediction: float | None = None


def predictions(path: Path = FOLDER / "number_guessing.csv") -> dict[tuple[str, int], list[tuple[float | None, bool]]]:
    """Return, for each model and level, its predictions in order, each with the authors' tick."""
    found: dict[tuple[str, int], list[tuple[float | None, bool]]] = {}
    for made in read_records(path, Prediction):
        found.setdefault((made.model, made.level), []).append((made.prediction, made.marked_correct))
    return found


def printed() -> dict[tuple[str, int], float]:
    """Return Table 2's accuracies by model and level."""
    return {
        (row["model"], level): float(row[f"numbers_level_{level}"])
        for row in read_table(FOLDER / "table2.csv")
        for level in (1, 2, 3)
    }


def rows() -> Iterator[PublishedFigure]:
    """Every accuracy of Table 2 whose predictions, or at least ticks, were published."""
    table = printed()
    for (model, level), made in sorted(predictions().items(), key=lambda entry: (entry[0][1], entry[0][0])):
        name = MODELS[model]
        numbers = [number for number, _ in made]
        known = level in TRUE_NUMBERS and None not in numbers
        if known:
            hits = sum(is_right(number, true) for number, true in zip(numbers, TRUE_NUMBERS[level], strict=True))
        else:
            hits = sum(tick for _, tick in made)
        accuracy = 100 * hits / len(made)
        reason = "" if known else _TICKS_ONLY.get(level, _NO_PREDICTIONS)
        match = accuracy == table[name, level]
        yield PublishedFigure(
            "Table 2", f"number guessing level {level}, {name}", table[name, level], accuracy, match, reason
        )
