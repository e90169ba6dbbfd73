"""The conversation: one story, ten points, one reply, read and repaired by the paper's rules."""

from msgspec import Struct

from sociometer.core.answer_format import Allocation
from sociometer.core.conversation import Sampling, user
from sociometer.core.task import Session
from sociometer.elicit import arrange, read_allocation, repair, shuffled, undo
from sociometer.instruments.seceu.items import TOTAL, Scenario

DIRECT = Sampling(temperature=0.1, top_p=1.0, max_tokens=512)
PROMPTED = Sampling(temperature=0.0, top_p=0.9, max_tokens=2048)


class Allocated(Struct, frozen=True):
    """The outcome of a scenario, in the item's own order of options."""

    points: tuple[float, ...]
    """Points after repair; all zero where nothing could be read."""
    written: tuple[float, ...] | None
    """Points as the reply gave them; None where it was unreadable."""
    rule: str
    """The rule that read the reply, or why none could."""
    repair: str
    order: tuple[int, ...]
    """Entry i is the option that was shown at place i."""


async def ask_points(item: Scenario, session: Session) -> Allocated:
    """Ask for the ten points, in the item's way of prompting."""
    count = len(item.options)
    order = shuffled(count, session.rng) if session.settings.flag("shuffle") else tuple(range(count))
    options = arrange(item.options, order)
    prompt = session.prompts.render(
        item.prompting, item.language, story=item.story, options=listed(options, item.language)
    )
    answer_format = Allocation(options, TOTAL, arrange(item.standard, order))
    sampling = DIRECT if item.prompting.startswith("direct") else PROMPTED
    reply = await session.ask("subject", [user(prompt)], answer_format, sampling=sampling)
    reading = read_allocation(reply.text, options, TOTAL)
    repaired = repair(reading.values, count, TOTAL)
    session.note("read", rule=reading.rule, repair=repaired.repair)
    written = None if reading.values is None else undo(reading.values, order)
    return Allocated(undo(repaired.values, order), written, reading.rule, repaired.repair, order)


def listed(options: tuple[str, ...], language: str) -> str:
    """Return the options in one line, numbered."""
    if language == "zh":
        return "；".join(f"（{place}）{option}" for place, option in enumerate(options, 1))
    return "; ".join(f"({place}) {option}" for place, option in enumerate(options, 1))
