"""Generated stories as scenes: each question of a story in both persons, with what it is grouped by."""

import gzip
import random
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

import msgspec

from sociometer.instruments.egosocial.scene import Scene, Telling, arranged_at
from sociometer.instruments.egosocial.stories.events import Move, Question, Story
from sociometer.instruments.egosocial.stories.mind import Oracle
from sociometer.instruments.egosocial.stories.seen import STORY_TYPES, generate
from sociometer.instruments.egosocial.stories.telling import Voice, question_prose, story_prose, texts
from sociometer.instruments.egosocial.stories.testimony import TIERS, AnswerCounts, testify

SEEN = "seen"
"""The tier of stories in which people learn by their own eyes; the others are `TIERS`."""
USUAL, USUAL_FILE = (0, 18, "en"), Path(__file__).parent / "usual.json.gz"
"""Seed, number and language of the stories of a run without options, and where they are: making them takes seconds."""
_LEVEL = "Difficulty(bystanders=1, extra_moves=0, other_things=0, remarks=1, hearsay=True, highest_order=4)"
"""Part of the seed of stories of the tier seen since version 5; another text would give other stories."""


def ego_of(story: Story, question: Question) -> str:
    """Who becomes "you": the outermost mind of the question; for memory and reality, the last who moved the thing."""
    if question.chain:
        return question.chain[0]
    movers = [e.person for e in story.events if isinstance(e, Move) and e.thing == question.thing and e.person]
    return movers[-1] if movers else story.people()[0]


def measured_by(order: int) -> str:
    """What a question measures once it is put to "you" (section 3.1): another's mind, or one's own after the events."""
    if order == 0:
        return "control"
    return "socialization" if order == 1 else "theory of mind"


def facets_of(story: Story, question: Question, right: str) -> dict[str, str]:
    """What every question about a story is grouped by."""
    facets = {
        "order": question.kind if question.order == 0 else str(question.order),
        "measures": measured_by(question.order),
    }
    if question.order:
        meets = right == Oracle(story).belief((), question.thing)
        facets["belief"] = "meets reality" if meets else "misses reality"
    return facets


def generated_scenes(seed: int, stories: int, tiers: Sequence[str] = (SEEN,), language: str = "en") -> Iterator[Scene]:
    """Generated stories of the tiers from a seed; the same seed gives the same scenes, for any number of stories."""
    for tier in tiers:
        if tier != SEEN:
            yield from _told(seed, stories, tier, language)
        for number in range(stories) if tier == SEEN else ():
            yield from _seen_story(seed, number, language)


@lru_cache(maxsize=256)
def _seen_story(seed: int, number: int, language: str) -> tuple[Scene, ...]:
    """The questions of one story in which people learn by their own eyes and by true messages, story types in turn.

    Cached, because a run reads its items several times.
    """
    tongue = "" if language == "en" else f"-{language}"
    rng = random.Random(f"egosocial story {number} of seed {seed} at {_LEVEL}{tongue}")
    types = len(STORY_TYPES)
    made = generate(rng, STORY_TYPES[number % types], language, turn=number // types)
    story = f"generated-{seed}{tongue}-{number:04d}"
    scenes = []
    for place, question in enumerate(made.questions, number):
        kind = question.kind if question.order == 0 else f"order{question.order}"
        facets = {"tier": SEEN, "asked": "look" if question.order else "fact", "story type": made.story_type}
        scenes.append(_fresh_scene(f"{story}-{kind}", story, made.story, question, facets, language, place))
    return tuple(scenes)


def _told(seed: int, stories: int, tier: str, language: str) -> tuple[Scene, ...]:
    """Stories in which people learn by word of mouth; those of a run without options come from a file."""
    usual = (seed, stories, language) == USUAL
    return usual_stories()[tier] if usual else told_stories(seed, stories, tier, language)


@cache
def usual_stories() -> dict[str, tuple[Scene, ...]]:
    """What `told_stories` gives for a run without options, by tier; `tools/usual_stories.py` writes the file."""
    return msgspec.json.decode(gzip.decompress(USUAL_FILE.read_bytes()), type=dict[str, tuple[Scene, ...]])


@lru_cache(maxsize=16)
def told_stories(seed: int, stories: int, tier: str, language: str) -> tuple[Scene, ...]:
    """Made stories in which people learn by word of mouth, kinds of evidence in turn.

    Cached, because they take seconds and a run reads its items several times.
    """
    counts, words, tongue = AnswerCounts(), texts(language).words, "" if language == "en" else f"-{language}"
    scenes = []
    for number in range(stories):
        rng = random.Random(f"egosocial {tier} story {number} of seed {seed} in {language}")
        made = testify(rng, TIERS[tier], words, number, counts)
        story = f"generated-{seed}{tongue}-{tier}-{number:04d}"
        for place, asked in enumerate(made.asked, number):
            question = asked.question
            kind = "say" if question.kind == "say" else "look"
            facets = {"tier": tier, "asked": kind, "evidence": asked.evidence or "none"}
            name = f"{story}-{kind}{question.order}"
            scenes.append(_fresh_scene(name, story, made.story, question, facets, language, place))
    return tuple(scenes)


def _fresh_scene(
    name: str, cluster: str, story: Story, question: Question, facets: dict[str, str], language: str, place: int
) -> Scene:
    """A question in all its tellings; `place` is that of the right option, which takes turns within a story."""
    right = Oracle(story).answer(question)
    if right is None:
        raise ValueError(f"{name}: the story does not settle {question}")
    ego = ego_of(story, question)
    places = story.containers_of(question.thing) if facets["tier"] == SEEN else tuple(story.rooms)
    shown, position = arranged_at(places, right, place, name)
    options = tuple(container.replace("_", " ") for container in shown)
    rules = "rules_seen" if facets["tier"] == SEEN else "rules_told"

    def told(telling: str, voice: Voice, hint: str) -> Telling:
        words = story_prose(story, cluster, voice), question_prose(question, voice)
        return Telling(telling, *words, options, position, prompt="world", rules=rules, hint=hint)

    tellings = (
        told("third", Voice(language=language), "hint_third"),
        told("first", Voice(ego, language), "hint_whole"),
    )
    facets = {**facets_of(story, question, right), **facets}
    return Scene(id=name, cluster=cluster, tellings=tellings, facets=facets, language=language, ego=ego)
