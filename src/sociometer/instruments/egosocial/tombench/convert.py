"""Conversion to the first person by a builder model: the request and the reply."""

from pathlib import Path

from msgspec import Struct

from sociometer.core.conversation import Sampling, Schema, user
from sociometer.core.session import Session
from sociometer.instruments.egosocial.tombench.checks import failures
from sociometer.instruments.egosocial.tombench.orders import Order
from sociometer.instruments.egosocial.tombench.release import Wording
from sociometer.reading import read_items, read_json


class Conversion(Struct, frozen=True):
    """The builder's reply, and the names of the checks it failed; without `first` the reply was unreadable."""

    first: Wording | None
    failed: tuple[str, ...]


class Converted(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a file of conversions, as `build` writes it and the task `tombench` reads it."""

    id: str
    language: str
    ego: str
    measures: str
    story: str
    question: str
    options: tuple[str, ...]


async def convert(item: Order, session: Session) -> Conversion:
    """Asks the builder for the first-person wording and checks what it gives."""
    prompt = session.prompts.render(
        "convert",
        item.language,
        person=item.ego,
        story=item.third.story,
        question=item.third.question,
        options="\n".join(f"{number}. {option}" for number, option in enumerate(item.third.options, 1)),
        count=len(item.third.options),
    )
    schema = Schema(_schema(len(item.third.options)), name="conversion")
    reply = await session.ask("builder", [user(prompt)], schema, sampling=Sampling(temperature=0, max_tokens=2000))
    first = read_json(reply.text, Wording).value
    return Conversion(first, ("unreadable",) if first is None else tuple(failures(item, first)))


def _schema(options: int) -> dict[str, object]:
    text = {"type": "string", "minLength": 1}
    listed = {"type": "array", "items": text, "minItems": options, "maxItems": options}
    return {
        "type": "object",
        "properties": {"story": text, "question": text, "options": listed},
        "required": ["story", "question", "options"],
        "additionalProperties": False,
    }


def read_conversions(path: Path) -> dict[tuple[str, str], Converted]:
    """A file of conversions by id and language; a bad line raises an error with file and line."""
    return {(converted.id, converted.language): converted for converted in read_items(path, Converted)}
