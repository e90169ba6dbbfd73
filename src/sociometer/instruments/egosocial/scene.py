"""One item of the static scenarios: a question told in one or more ways, under one id."""

import random
from collections.abc import Sequence

from msgspec import Struct

from sociometer.core.task import Item


class Telling(Struct, frozen=True):
    """One way of putting a scene: what is told, what is asked, and which option is right.

    `official` is the released key if there is a separate one; `home` is the option that this world would give;
    `prompt` names the file that puts story, question and options together; `rules` and `hint` name the files of what
    holds in the story and of what to answer from; `system` names the system message (empty: that of the telling).
    """

    name: str
    story: str
    question: str
    options: tuple[str, ...]
    answer: int
    official: int | None = None
    home: int | None = None
    prompt: str = "question"
    rules: str = ""
    hint: str = ""
    system: str = ""


class Scene(Item, frozen=True, kw_only=True):
    """A question with its tellings (third and first person, or counterfactual and factual): a pair with one id."""

    tellings: tuple[Telling, ...]
    facets: dict[str, str]
    language: str = "en"
    ego: str = ""


def arranged(options: Sequence[str], answer: str, pair: str) -> tuple[tuple[str, ...], int]:
    """The options with the position of the answer; the order depends on the pair's id alone, for all subjects."""
    order = list(range(len(options)))
    random.Random(f"options of {pair}").shuffle(order)
    shown = tuple(options[index] for index in order)
    return shown, shown.index(answer)


def arranged_at(options: Sequence[str], answer: str, place: int, pair: str) -> tuple[tuple[str, ...], int]:
    """The options with the answer at a place (counted round), the others in an order that depends on the pair's id."""
    others = [option for option in options if option != answer]
    random.Random(f"options of {pair}").shuffle(others)
    position = place % len(options)
    return (*others[:position], answer, *others[position:]), position
