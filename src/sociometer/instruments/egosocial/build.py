"""Builds first-person ToMBench: orders for the builder, the verdict on each conversion, and the review sheet."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from sociometer.core.errors import DataError
from sociometer.core.measure import Summary, Table
from sociometer.core.sheets import read_rows, write_sheet
from sociometer.core.source import Source
from sociometer.core.task import RunView, Score
from sociometer.instruments.egosocial.play import Picks
from sociometer.instruments.egosocial.scene import Scene, Telling
from sociometer.instruments.egosocial.tombench.convert import Conversion, Converted, failures
from sociometer.instruments.egosocial.tombench.release import Order, Wording, orders, read_folder
from sociometer.statistics.measures import grouped_measures

COLUMNS = (
    "id", "ego", "measures", "checks failed", "verdict", "story", "first-person story", "question",
    "first-person question", "options", "first-person options", "right option",
)  # fmt: skip
"""`verdict` is for people: yes or no. They may also correct the three first-person columns."""
ANSWER_CHANGED = "the solver's answer changed"
_NEXT_STEP = "Fill in the sheet that 'sociometer egosocial build' wrote."


class Draft(Struct, frozen=True):
    """A conversion with the order it answers."""

    order: Order
    conversion: Conversion


def orders_of(source: Source) -> Iterator[Order]:
    """The conversions to make from the official ToMBench files, in the language of the settings."""
    return orders(read_folder(source.path("tombench")), source.settings.text("language"))


def score(item: Order, outcome: Conversion) -> Score:
    """Whether a conversion passes every automatic check."""
    return Score(
        values={"passed": float(not outcome.failed)},
        facets={"measures": item.measures},
        unreadable=int(outcome.first is None),
    )


def summarise(run: RunView[Order, Conversion]) -> Summary:
    """The share that passes, and what the others failed."""
    failed = Counter(name for _, outcome, _ in run.scored() for name in outcome.failed)
    table = Table("failed", "Checks failed", ("check", "conversions"), tuple(failed.most_common()))
    return Summary(grouped_measures(run, "passed", by=["measures"]), (table,))


def drafts_of(run: RunView[Order, Conversion]) -> list[Draft]:
    """The conversions of a run, in order."""
    return [Draft(order, conversion) for order, conversion, _ in run.scored()]


def review_sheet(drafts: Iterable[Draft]) -> str:
    """The review sheet: what people need to see, with a column for their verdict."""
    rows = []
    for draft in drafts:
        order, first = draft.order, draft.conversion.first or Wording("", "", ())
        rows.append(
            (
                order.id,
                order.ego,
                order.measures,
                "; ".join(draft.conversion.failed),
                "",
                order.third.story,
                first.story,
                order.third.question,
                first.question,
                "\n".join(order.third.options),
                "\n".join(first.options),
                order.answer + 1,
            )
        )
    return write_sheet(COLUMNS, rows, guard_formulas=True)


def both_tellings(drafts: Iterable[Draft]) -> Iterator[Scene]:
    """Both versions of each conversion that passed every check, for a solver to answer."""
    for draft in drafts:
        order, first = draft.order, draft.conversion.first
        if first is not None and not draft.conversion.failed:
            third = order.third
            tellings = (
                Telling("third", third.story, third.question, third.options, order.answer),
                Telling("first", first.story, first.question, first.options, order.answer),
            )
            facets = {"measures": order.measures}
            yield Scene(
                id=order.id,
                cluster=order.cluster,
                tellings=tellings,
                facets=facets,
                language=order.language,
                ego=order.ego,
            )


def changed_answer(outcome: Picks) -> bool:
    """Whether the solver gave the two versions different answers; an unreadable reply decides nothing."""
    third, first = outcome.of("third"), outcome.of("first")
    if third is None or first is None or third.picked is None or first.picked is None:
        return False
    return third.picked != first.picked


def score_solved(item: Scene, outcome: Picks) -> Score:
    """Whether the solver's answer is the same for both versions; an unreadable reply is not the same answer."""
    unread = sum(pick.picked is None for pick in outcome.picks)
    same = not unread and not changed_answer(outcome)
    return Score(values={"same_answer": float(same)}, facets=item.facets, unreadable=unread)


def summarise_solved(run: RunView[Scene, Picks]) -> Summary:
    """The share of conversions that keep the solver's answer."""
    return Summary(grouped_measures(run, "same_answer", by=["measures"]))


def with_findings(drafts: Iterable[Draft], solved: RunView[Scene, Picks]) -> list[Draft]:
    """The drafts, with a finding on each whose conversion changed the solver's answer."""
    changed = {item.id for item, outcome, _ in solved.scored() if changed_answer(outcome)}
    return [
        Draft(draft.order, structs.replace(draft.conversion, failed=(*draft.conversion.failed, ANSWER_CHANGED)))
        if draft.order.id in changed
        else draft
        for draft in drafts
    ]


class Verdict(Struct, frozen=True):
    """A person's verdict on one conversion: accepted or not, with the wording in the sheet at that time."""

    accepted: bool
    first: Wording


def read_sheet(path: Path) -> dict[str, Verdict]:
    """The verdicts of a filled-in review sheet; rows without a verdict are left out."""
    verdicts: dict[str, Verdict] = {}
    for number, row in read_rows(path, COLUMNS, next_step=_NEXT_STEP, guarded=True):
        said = row["verdict"].strip().lower()
        if not said:
            continue
        if said not in ("yes", "no"):
            raise DataError(f"verdict {said!r}; allowed: yes, no, or empty", path, number)
        options = tuple(option for option in row["first-person options"].splitlines() if option.strip())
        story, question = (_unix_lines(row[f"first-person {part}"]) for part in ("story", "question"))
        wording = Wording(story.strip(), question.strip(), options)
        verdicts[row["id"]] = Verdict(said == "yes", wording)
    return verdicts


def _unix_lines(text: str) -> str:
    """The text with line ends as a model reads them, whatever the spreadsheet saved."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def accepted(drafts: Iterable[Draft], verdicts: dict[str, Verdict]) -> Iterator[Converted]:
    """The usable conversions: those that people accepted, otherwise those that passed every check.

    A person may overrule a check, but the conversion must be playable: the number of options must stay the same.
    """
    for draft in drafts:
        order = draft.order
        verdict = verdicts.get(order.id)
        first = verdict.first if verdict is not None else draft.conversion.first
        usable = verdict.accepted if verdict is not None else not draft.conversion.failed
        if not usable or first is None or "number of options" in failures(order, first):
            continue
        yield Converted(order.id, order.language, order.ego, order.measures, first.story, first.question, first.options)


def json_lines(converted: Iterable[Converted]) -> str:
    """Conversions as JSON lines."""
    return "".join(f"{msgspec.json.encode(line).decode()}\n" for line in converted)
