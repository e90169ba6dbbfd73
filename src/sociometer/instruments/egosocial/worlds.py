"""Counterfactual rules, each with a factual version; invented worlds; and the layout of the authors' released files."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.core.source import Source
from sociometer.instruments.egosocial.scene import Scene, Telling, arranged
from sociometer.instruments.egosocial.stories.telling import texts
from sociometer.reading import read_items, read_lines

COUNTERFACT = "egosocialarena/counterfact.jsonl"
SOCIALFIRST = "egosocialarena/socialfirst.jsonl"
EXPECTED = "Story, Question, Option and Answer"
_ABILITIES = {"non-li": "non-literal communication"}


class ReleasedLine(Struct, frozen=True):
    """One line of `counterfact.jsonl` or `socialfirst.jsonl`."""

    Story: str
    Question: str
    Option: tuple[str, ...]
    Answer: str | int
    Ability: str = ""


def answer_position(row: ReleasedLine, path: Path, number: int) -> int:
    """The answer's position, given as a letter, a number from 0, or the option itself."""
    if isinstance(row.Answer, int):
        position = row.Answer
    else:
        text = row.Answer.strip()
        letters = re.fullmatch(r"\(?([A-Za-z])[).:]?", text)
        same = [place for place, option in enumerate(row.Option) if option.strip() == text]
        opened = re.match(r"\(?([A-Z])[).:]", text)
        found = letters or (None if same else opened)
        position = same[0] if same else ord(found[1].upper()) - ord("A") if found else -1
    if len(row.Option) < 2 or not 0 <= position < len(row.Option):
        raise DataError(f"answer {row.Answer!r} is not among the options {row.Option}", path, number)
    return position


def socialfirst(source: Source) -> Iterator[Scene]:
    """The authors' first-person ToMBench items: told in the first person only, with the ability that each measures."""
    path = source.path(SOCIALFIRST)
    for number, row in read_lines(path, ReleasedLine, f"{EXPECTED}, and Ability"):
        ability = row.Ability.strip().lower()
        telling = Telling("first", row.Story, row.Question, row.Option, answer_position(row, path, number))
        yield Scene(
            id=f"socialfirst-{number:03d}",
            cluster=f"story-{row.Story.strip()[:80]}",
            tellings=(telling,),
            facets={"ability": _ABILITIES.get(ability, ability) or "none given", "options": str(len(row.Option))},
        )


BUNDLED = Path(__file__).parent / "data" / "counterfactual.toml"
_SLOT = re.compile(r"\{([a-z_]+)\}")


class Inverted(Struct, frozen=True, forbid_unknown_fields=True):
    """A question about a rule; each case fills its slots and gives the answers under both rules."""

    kind: str
    ask: str
    cases: tuple[dict[str, str], ...]
    scene: str = ""


class Domain(Struct, frozen=True, forbid_unknown_fields=True):
    """A rule of the real world (`home`) and its inversion (`strange`), each in several wordings."""

    name: str
    strange: tuple[str, ...]
    home: tuple[str, ...]
    question: tuple[Inverted, ...]


def read_domains() -> tuple[Domain, ...]:
    """Our counterfactual rules."""
    return msgspec.toml.decode(BUNDLED.read_bytes(), type=dict[str, tuple[Domain, ...]])["domain"]


def counterfactual(source: Source) -> Iterator[Scene]:
    """Every case of every counterfactual rule, people and wordings drawn from the seed, with its factual version."""
    for domain in read_domains():
        for number, (question, case) in enumerate((q, case) for q in domain.question for case in q.cases):
            name = f"counterfactual-{source.seed}-{domain.name.replace(' ', '-')}-{number:02d}"
            yield _twins(name, domain, question, case, random.Random(f"egosocial rule {name}"))


def _twins(name: str, domain: Domain, question: Inverted, case: dict[str, str], rng: random.Random) -> Scene:
    people = dict(zip("abc", rng.sample(texts("en").words.people, 3), strict=True))
    wording = rng.randrange(min(len(domain.strange), len(domain.home)))

    def fill(text: str) -> str:
        return _SLOT.sub(lambda slot: people[slot[1]], _SLOT.sub(lambda slot: case.get(slot[1], slot[0]), text))

    strange, home = fill(case["strange"]), fill(case["home"])
    scene = fill(question.scene)
    tellings = []
    for telling, rule, right in (
        ("counterfactual", domain.strange[wording], strange),
        ("factual", domain.home[wording], home),
    ):
        options, answer = arranged((strange, home), right, name)
        story = "\n".join(part for part in (rule, scene) if part)
        back = options.index(home) if telling == "counterfactual" else None
        tellings.append(Telling(telling, story, fill(question.ask), options, answer, home=back))
    facets = {"domain": domain.name, "kind": question.kind}
    return Scene(id=name, cluster=f"rule-{domain.name}", tellings=tuple(tellings), facets=facets)


def counterfactual_official(source: Source) -> Iterator[Scene]:
    """The authors' counterfactual file: no factual versions, two options."""
    path = source.path(COUNTERFACT)
    for number, row in read_lines(path, ReleasedLine, EXPECTED):
        telling = Telling("counterfactual", row.Story, row.Question, row.Option, answer_position(row, path, number))
        name = f"counterfact-{number:03d}"
        facets = {"domain": "official", "kind": "official"}
        yield Scene(id=name, cluster=f"story-{row.Story.strip()[:80]}", tellings=(telling,), facets=facets)


WORLDS = Path(__file__).parent / "data" / "worlds.jsonl"


class World(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the file: `answer` follows the society's custom, `home` is the real world's answer."""

    id: str
    theme: str
    custom: str
    story: str
    question: str
    options: tuple[str, str, str, str]
    answer: int
    home: int


def invented(source: Source) -> Iterator[Scene]:
    """The invented worlds as scenes: one fundamental custom of each, which the story tells, differs from ours."""
    for world in read_items(WORLDS, World):
        telling = Telling("worlds", world.story, world.question, world.options, world.answer, home=world.home)
        yield Scene(id=world.id, cluster=world.id, tellings=(telling,), facets={"theme": world.theme})
