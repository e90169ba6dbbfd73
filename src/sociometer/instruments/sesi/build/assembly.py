"""Items from drafts, with the origin of every field."""

from collections.abc import Sequence
from random import Random

from msgspec import Struct

from sociometer.core.sheets import write_sheet
from sociometer.instruments.sesi.build.draft import Candidate, Draft
from sociometer.instruments.sesi.build.posts import Post, Rejection
from sociometer.instruments.sesi.items import COLUMNS, Question


class Option(Struct, frozen=True):
    """The origin of one option."""

    kind: str
    entailment: float | None = None


class Provenance(Struct, frozen=True):
    """The origin of every field of an item."""

    id: str
    post: str
    link: str
    comments: tuple[tuple[str, int], ...]
    builder: str
    prompts: str
    options: tuple[Option, ...]
    situation: str = "written by the builder from title, short version and text of the post"
    question: str = "written by the builder from the same texts"
    ability: str = "chosen by the builder"
    right: str = "written by the builder from the comments"
    entailment: str = "asked of the builder"


class Built(Struct, frozen=True):
    """An item with its origin."""

    item: Question
    provenance: Provenance


def least_entailed(candidates: Sequence[Candidate], right: str, rng: Random) -> list[Candidate]:
    """The three candidates that the right answer entails least; ties are drawn, repeats and unknowns left out."""
    known = {entry.text.lower(): entry for entry in reversed(candidates) if entry.entailment is not None}
    known.pop(right.lower(), None)
    drawn = list(known.values())
    rng.shuffle(drawn)
    return sorted(drawn, key=lambda entry: entry.entailment or 0.0)[:3]


def assemble(
    drafts: Sequence[tuple[Post, Draft]], *, builder: str, prompts: str, seed: int
) -> tuple[list[Built], list[Rejection]]:
    """Items in the order of their posts; right answers are equally frequent in each position."""
    usable, rejected = [], []
    for post, draft in drafts:
        wrong = least_entailed(draft.candidates, draft.right, Random(f"sesi-construction/{seed}/{post.id}"))
        if draft.problem:
            rejected.append(Rejection(post.id, draft.problem))
        elif len(wrong) < 3:
            rejected.append(Rejection(post.id, f"only {len(wrong)} wrong answers with a known entailment"))
        else:
            usable.append((post, draft, wrong))
    rng = Random(f"sesi-construction/{seed}")
    places = [number % 4 for number in range(len(usable))]
    rng.shuffle(places)
    built = []
    for (post, draft, wrong), place in zip(usable, places, strict=True):
        rng.shuffle(wrong)
        shown = [*wrong[:place], Candidate(draft.right, "right"), *wrong[place:]]
        built.append(_built(post, draft, shown, place, builder, prompts))
    return built, rejected


def _built(post: Post, draft: Draft, shown: Sequence[Candidate], place: int, builder: str, prompts: str) -> Built:
    texts = tuple(entry.text for entry in shown)
    item = Question(
        id=post.id,
        cluster=post.id,
        ability=draft.ability,  # type: ignore[arg-type]
        situation=draft.situation,
        question=draft.question,
        options=(texts[0], texts[1], texts[2], texts[3]),
        answer=place,
        kinds=tuple(entry.kind for entry in shown),
    )
    provenance = Provenance(
        id=post.id,
        post=post.id,
        link=post.link,
        comments=tuple((comment.id, comment.votes) for comment in post.comments),
        builder=builder,
        prompts=prompts,
        options=tuple(Option(entry.kind, entry.entailment) for entry in shown),
    )
    return Built(item, provenance)


def official_csv(items: Sequence[Question]) -> str:
    """The items in the layout of the official release."""
    rows = [
        (item.id, item.ability.capitalize(), item.situation, item.question, *item.options, item.answer)
        for item in items
    ]
    return write_sheet(COLUMNS, rows)
