"""An optional model that reads what the rules cannot; never the default, and marked wherever it decided."""

from msgspec import Struct

from sociometer.core.conversation import Allocation, Choice, Sampling, Schema, user
from sociometer.core.session import Session
from sociometer.reading.asking import shared_prompt
from sociometer.reading.structured import object_schema, read_json

READER = "reader"
READER_RULE = "reader model"
_SAMPLING = Sampling(temperature=0, max_tokens=1000)
_LONGEST = 8000
_CHECKED = 10  # one in so many replies that the rules can read is read by the model too


class _Picked(Struct):
    answer: str


class _Points(Struct):
    points: list[float]


async def model_choice(session: Session, choice: Choice, reply: str, language: str) -> int | None:
    """Return the place of the option that the reader model finds in a reply; None without a reader or an option."""
    if not session.has_role(READER) or not reply.strip():
        return None
    options = "\n".join(f"{label}. {option}" for label, option in zip(choice.labels, choice.options, strict=True))
    schema = object_schema(answer={"type": "string", "enum": [*choice.labels, "none"]})
    prompt = shared_prompt(session, "reader-choice", language, options=options, reply=reply[-_LONGEST:])
    found = await session.ask(READER, [user(prompt)], Schema(schema, "reading"), sampling=_SAMPLING)

    read = read_json(found.text, _Picked, schema).value
    return choice.labels.index(read.answer) if read is not None and read.answer in choice.labels else None


async def check_choice(session: Session, choice: Choice, reply: str, language: str, read: int) -> bool | None:
    """Let the reader model read one in ten of the replies that the rules have read, and note whether both agree."""
    if session.has_role(READER) and session.rng_of("reader check").randrange(_CHECKED) == 0:
        found = await model_choice(session, choice, reply, language)
        session.note("reader check", agrees=found == read)
        return found == read
    return None


async def model_points(session: Session, wanted: Allocation, reply: str, language: str) -> tuple[float, ...] | None:
    """Return the points that the reader model finds in a reply, in the order of the options."""
    if not session.has_role(READER) or not reply.strip():
        return None
    options = "\n".join(f"- {option}" for option in wanted.options)
    schema = object_schema(points={"type": "array", "items": {"type": "number"}})
    prompt = shared_prompt(
        session, "reader-points", language, options=options, total=f"{wanted.total:g}", reply=reply[-_LONGEST:]
    )
    found = await session.ask(READER, [user(prompt)], Schema(schema, "reading"), sampling=_SAMPLING)

    read = read_json(found.text, _Points, schema).value
    return tuple(read.points) if read is not None and len(read.points) == len(wanted.options) else None
