"""Counterfactual rules: scenes from a seed, each with a factual version; and the official file's layout."""

import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.released import EXPECTED, ReleasedLine, answer_position
from sociometer.instruments.egosocial.scene import Scene, Telling, arranged
from sociometer.instruments.egosocial.stories.world import PEOPLE
from sociometer.reading import read_lines

BUNDLED = Path(__file__).parents[1] / "data" / "counterfactual.toml"
KINDS = ("direct", "applied", "two-step")
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


class _Domains(Struct, frozen=True, forbid_unknown_fields=True):
    domain: tuple[Domain, ...]


def read_domains(path: Path = BUNDLED) -> tuple[Domain, ...]:
    """The counterfactual rules of a file; a bad rule raises an error."""
    try:
        found = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _Domains)
    except (ValueError, msgspec.ValidationError, RecursionError) as error:
        raise DataError(f"not a file of inverted rules: {error}", path) from None
    for domain in found.domain:
        for question in domain.question:
            if question.kind not in KINDS:
                raise DataError(f"{domain.name}: unknown kind {question.kind!r}; known: {', '.join(KINDS)}", path)
            for case in question.cases:
                if case.get("strange", "") == case.get("home", ""):
                    raise DataError(f"{domain.name}: a case needs two different answers, found {case}", path)
    return found.domain


def twin_scenes(seed: int, path: Path = BUNDLED) -> Iterator[Scene]:
    """Every case of every counterfactual rule, people and wordings drawn from the seed, with its factual version."""
    for domain in read_domains(path):
        for number, (question, case) in enumerate((q, case) for q in domain.question for case in q.cases):
            name = f"counterfactual-{seed}-{domain.name.replace(' ', '-')}-{number:02d}"
            yield _twins(name, domain, question, case, random.Random(f"egosocial rule {name}"))


def _twins(name: str, domain: Domain, question: Inverted, case: dict[str, str], rng: random.Random) -> Scene:
    people = dict(zip("abc", rng.sample(PEOPLE, 3), strict=True))
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


def official_scenes(path: Path) -> Iterator[Scene]:
    """The authors' counterfactual file: no factual versions, two options."""
    for number, row in read_lines(path, ReleasedLine, EXPECTED):
        telling = Telling("counterfactual", row.Story, row.Question, row.Option, answer_position(row, path, number))
        name = f"counterfact-{number:03d}"
        facets = {"domain": "official", "kind": "official"}
        yield Scene(id=name, cluster=f"story-{row.Story.strip()[:80]}", tellings=(telling,), facets=facets)
