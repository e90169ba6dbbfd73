"""What the command shows: the verdict on each subject, the evidence behind it, and its runs."""

from collections.abc import Callable, Sequence

from msgspec import Struct, structs

from sociometer.contamination.names import SERIES, TASK
from sociometer.contamination.overlap import length_of
from sociometer.contamination.pairs import Pair
from sociometer.core.errors import UsageError
from sociometer.core.measure import Summary, Table
from sociometer.core.settings import Settings
from sociometer.core.task import Item, Result, Source
from sociometer.engine.command_context import CommandContext


class Examined(Struct, frozen=True):
    """One subject, the run that examined it, and what the run says."""

    subject: str
    run: str
    summary: Summary


Recalled = Callable[[Source, str, int], tuple[Sequence[Pair], Sequence[Item]]]
"""Makes the pairs of public and unseen items, and what is asked about them."""


def examine(context: CommandContext, options: Settings, recalled: Recalled) -> Result:
    """Asks every subject about pairs of public and unseen items, and says whether it knows the public ones by heart."""
    if not context.subjects:
        raise UsageError("contamination needs a subject: give --model MODEL; repeat it for several.")
    pairs, asked = recalled(context.source(), options.text("unseen"), options.whole("pairs"))
    if not pairs:
        raise UsageError("no public item has an unseen one of the same ability; give others with --unseen FILE.")
    if options.flag("dry-run"):
        return Result((context.plan_table(TASK, asked),))
    context.expect(len(context.subjects))
    runs = [context.play(TASK, subject=subject, items=asked) for subject in context.subjects]
    return _result([Examined(run.subject, run.id, run.summary(TASK)) for run in runs], pairs)


def _result(found: Sequence[Examined], pairs: Sequence[Pair]) -> Result:
    """The verdicts, and a table for each subject."""
    tables: list[Table] = []
    findings, notes = [], []
    for one in found:
        verdict, *rest = one.summary.notes
        findings.append(f"{one.subject}: {verdict}")
        notes += [f"{one.subject}: {note}" for note in rest]
        tables += [structs.replace(table, title=f"{table.title}: {one.subject}") for table in one.summary.tables]
    notes.append(_matching(pairs))
    notes.append(f"The verdict is shown next to this subject's scores. Replies: sociometer show {found[0].run} ITEM")
    data = {"runs": {one.subject: one.run for one in found}, "found": {one.subject: _known(one) for one in found}}
    return Result(tuple(tables), tuple(notes), data=data, finding="\n".join(findings))


def _known(one: Examined) -> bool:
    """Whether the subject knows public items by heart."""
    return bool(one.summary.series[SERIES]["found"])


def _matching(pairs: Sequence[Pair]) -> str:
    words = "characters" if pairs[0].public.language == "zh" else "words"
    abilities = {pair.public.ability for pair in pairs} - {""}
    same = f"by ability ({len(abilities)}) and length" if abilities else "by length"
    public, unseen = (
        sum(length_of(passage.text) for passage in side) / len(pairs)
        for side in ([pair.public for pair in pairs], [pair.unseen for pair in pairs])
    )
    return (
        f"{len(pairs)} pairs, matched {same}: public texts have {public:.0f} {words} on average, unseen ones"
        f" {unseen:.0f}; for completion, both of a pair are cut to the shorter one."
    )
