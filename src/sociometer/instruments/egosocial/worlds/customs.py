"""Unstated customs, which scenes show and an oracle finds; and invented worlds, whose customs are told.

An *inferred* custom hangs on one of three circumstances. In a *conflict* three customs hang on one circumstance each;
scenes show that the first goes before the second and the second before the third, and the question sets the first
against the third. The oracle goes through the rules of both kinds, since a reader is not told which one a society has;
a question is asked only where all the rules that fit the scenes agree on the answer.
"""

import random
import tomllib
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations, product
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.scene import Scene, Telling, arranged
from sociometer.instruments.egosocial.stories.world import VOCABULARIES
from sociometer.reading import read_items

BUNDLED = Path(__file__).parents[1] / "data" / "customs.toml"
TIERS = ("inferred", "conflict")
HOME = 3
"""The act of our world, after the three strange ones."""
Circumstances = tuple[int, int, int]
"""Whether each of three circumstances is as usual (0) or marked (1)."""
Rule = Callable[[Circumstances], int]
"""The act that a custom requires under some circumstances."""
_ALL: tuple[Circumstances, ...] = tuple(product((0, 1), (0, 1), (0, 1)))


class Texts(Struct, frozen=True):
    """A domain in one language."""

    place: str
    scene: str
    asked: str
    a: tuple[str, str]
    b: tuple[str, str]
    c: tuple[str, str]
    acts: tuple[str, str, str]
    mine: tuple[str, str, str]
    home: str
    home_act: str


class Shown(Struct, frozen=True):
    """A scene: the circumstances, the act, and whether people took it well."""

    circumstances: Circumstances
    act: int
    approved: bool = True


class Custom(Struct, frozen=True):
    """What the scenes show, what is asked, and the act that is right."""

    tier: str
    shown: tuple[Shown, ...]
    asked: Circumstances
    answer: int


def read_domains(language: str, path: Path = BUNDLED) -> dict[str, Texts]:
    """The domains of a file in one language, by name."""
    prefix = "" if language == "en" else f"{language}_"
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))["domain"]
        names = Texts.__struct_fields__
        return {row["name"]: msgspec.convert({name: row[prefix + name] for name in names}, Texts) for row in rows}
    except (ValueError, KeyError, msgspec.ValidationError) as error:
        raise DataError(f"not a file of customs: {error}", path) from None


def rules_of(tier: str) -> Iterator[Rule]:
    """Every rule of a kind: one circumstance that decides, or three customs in an order of rank."""
    if tier == "inferred":
        for place, usual, marked in product(range(3), range(HOME), range(HOME)):
            yield lambda seen, place=place, acts=(usual, marked): acts[seen[place]]  # type: ignore[misc]
        return
    for rank in permutations(range(3)):
        for acts in permutations(range(HOME)):
            yield lambda seen, rank=rank, acts=acts: next(  # type: ignore[misc]
                (acts[place] for place in rank if seen[place]), HOME
            )


def fits(rule: Rule, shown: Sequence[Shown]) -> bool:
    """Whether a rule requires the approved acts and none of the disapproved ones."""
    return all((rule(one.circumstances) == one.act) == one.approved for one in shown)


def oracle(shown: Sequence[Shown], asked: Circumstances) -> int | None:
    """The act that every fitting rule of any kind asks for; None if they disagree."""
    found = {rule(asked) for tier in TIERS for rule in rules_of(tier) if fits(rule, shown)}
    return found.pop() if len(found) == 1 else None


def make_custom(rng: random.Random, tier: str) -> Custom:
    """A custom of a tier whose answer the scenes settle, and that the most similar scene gets wrong."""
    while True:
        made = _inferred(rng) if tier == "inferred" else _conflict(rng)
        if made is not None and oracle(made.shown, made.asked) == made.answer:
            return made


def _inferred(rng: random.Random) -> Custom | None:
    """Four scenes in which one circumstance decides, and one in which somebody did what our world does."""
    place, acts = rng.randrange(3), rng.sample(range(HOME), 2)
    situations = rng.sample(_ALL, 5)
    *seen, asked = situations
    shown = [Shown(one, acts[one[place]]) for one in seen]
    nearest = max(shown, key=lambda one: sum(x == y for x, y in zip(one.circumstances, asked, strict=True)))
    if nearest.act == acts[asked[place]]:
        return None
    wrong = Shown(rng.choice(seen), HOME, approved=False)
    shown.insert(rng.randrange(1, len(shown) + 1), wrong)
    return Custom("inferred", tuple(shown), asked, acts[asked[place]])


def _conflict(rng: random.Random) -> Custom:
    """Three customs alone, the first against the second, the second against the third; asked is first against third."""
    first, second, third = rng.sample(range(3), 3)
    acts = rng.sample(range(HOME), HOME)

    def marked(*places: int) -> Circumstances:
        one, two, three = (int(place in places) for place in range(3))
        return one, two, three

    # The third is shown twice, so that the right act is not simply the one that is seen more often.
    alone = [Shown(marked(place), acts[place]) for place in (first, second, third, third)]
    rng.shuffle(alone)
    clashes = [Shown(marked(first, second), acts[first]), Shown(marked(second, third), acts[second])]
    rng.shuffle(clashes)
    return Custom("conflict", (*alone, *clashes), marked(first, third), acts[first])


def custom_scenes(seed: int, count: int, language: str = "en") -> Iterator[Scene]:
    """Societies from a seed, tiers and domains in turn: scenes, a question, three strange acts and our world's."""
    domains = list(read_domains(language).items())
    tongue = "" if language == "en" else f"-{language}"
    for number in range(count):
        tier = TIERS[number % len(TIERS)]
        name, texts = domains[(number // len(TIERS)) % len(domains)]
        scene = f"customs-{seed}{tongue}-{number:03d}-{tier}"
        rng = random.Random(f"egosocial {scene}")
        custom = make_custom(rng, tier)
        right, home = (*texts.mine, texts.home)[custom.answer], texts.home
        options, answer = arranged((*texts.mine, home), right, scene)
        told = "" if language == "zh" else " "
        opening, *reactions = _WORDS[language]
        people = rng.sample(VOCABULARIES[language].people, 2 * len(custom.shown) + 1)
        story = [opening.format(place=texts.place)]
        for place, one in enumerate(custom.shown):
            visitor, host = people[2 * place : 2 * place + 2]
            act = (*texts.acts, texts.home_act)[one.act]
            story.append(_fill(texts.scene, texts, one.circumstances, v=visitor, h=host, act=act))
            good, bad = reactions[: len(reactions) // 2], reactions[len(reactions) // 2 :]
            story.append(rng.choice(good if one.approved else bad))
        asked = _fill(texts.asked, texts, custom.asked, v=people[-1])
        yield Scene(
            id=scene,
            cluster=scene,
            tellings=(
                Telling(
                    "customs", told.join(story), asked, options, answer, home=options.index(home), prompt="customs"
                ),
            ),
            facets={"tier": tier, "domain": name},
            language=language,
        )


def _fill(form: str, texts: Texts, circumstances: Circumstances, **words: str) -> str:
    one, two, three = circumstances
    return form.format(a=texts.a[one], b=texts.b[two], c=texts.c[three], **words)


_WORDS = {
    "en": (
        "You have lived in {place} since last spring, and this is what you saw there.",
        "The neighbours nodded.",
        "People smiled, and the talk went on.",
        "“As it should be,” somebody said.",
        "The street fell silent, and for a week nobody said a word to the newcomer who had done it.",
        "Everybody stared, and a child was told never to do such a thing.",
        "People turned away in embarrassment.",
    ),
    "zh": (
        "你从去年春天起就住在{place}，下面是你在那里见到的事。",
        "邻居们点了点头。",
        "大家笑了笑，接着聊了下去。",
        "有人说：“理当如此。”",
        "街上顿时静了下来。这样做的人是新搬来的，之后整整一个星期都没人搭理。",
        "大家都瞪大了眼睛，还有人告诫孩子千万别这样做。",
        "大家尴尬地别过脸去。",
    ),
}
"""The opening, three reactions of approval, and three of disapproval."""


WORLDS = Path(__file__).parents[1] / "data" / "worlds.jsonl"


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

    def __post_init__(self) -> None:
        if self.answer == self.home or not {self.answer, self.home} <= {0, 1, 2, 3}:
            raise ValueError(f"answer {self.answer} and home {self.home} must be two of 0 to 3")


def world_scenes(path: Path = WORLDS) -> Iterator[Scene]:
    """The stories as scenes; a bad line raises an error with file and line."""
    for world in read_items(path, World):
        telling = Telling("worlds", world.story, world.question, world.options, world.answer, home=world.home)
        yield Scene(id=world.id, cluster=world.id, tellings=(telling,), facets={"theme": world.theme})
