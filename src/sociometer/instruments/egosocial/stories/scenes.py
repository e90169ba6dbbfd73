"""Generated stories as scenes: each question of a story in both persons, with what it is grouped by."""

import random
from collections.abc import Iterator
from functools import lru_cache

from sociometer.instruments.egosocial.scene import Scene, Telling, arranged_at
from sociometer.instruments.egosocial.stories.events import Move, Question, Story
from sociometer.instruments.egosocial.stories.mind import Oracle
from sociometer.instruments.egosocial.stories.seen import STORY_TYPES, generate
from sociometer.instruments.egosocial.stories.telling import Voice, question_prose, story_prose

_LEVEL = "Difficulty(bystanders=1, extra_moves=0, other_things=0, remarks=1, hearsay=True, highest_order=4)"
"""Part of the seed of stories since version 5; another text would give other stories."""


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


def generated_scenes(seed: int, stories: int, language: str = "en") -> Iterator[Scene]:
    """Generated stories from a seed; the same seed gives the same scenes, for any number of stories."""
    for number in range(stories):
        yield from _story(seed, number, language)


@lru_cache(maxsize=256)
def _story(seed: int, number: int, language: str) -> tuple[Scene, ...]:
    """The questions of one story, story types in turn.

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
        # `tier` and `asked` have belonged to these items since version 5; without them every item would be another one.
        facets = {"tier": "seen", "asked": "look" if question.order else "fact", "story type": made.story_type}
        scenes.append(_scene(f"{story}-{kind}", story, made.story, question, facets, language, place))
    return tuple(scenes)


def _scene(
    name: str, cluster: str, story: Story, question: Question, facets: dict[str, str], language: str, place: int
) -> Scene:
    """A question in all its tellings; `place` is that of the right option, which takes turns within a story."""
    right = Oracle(story).answer(question)
    if right is None:
        raise ValueError(f"{name}: the story does not settle {question}")
    ego = ego_of(story, question)
    shown, position = arranged_at(story.containers_of(question.thing), right, place, name)
    options = tuple(container.replace("_", " ") for container in shown)

    def told(telling: str, voice: Voice, hint: str) -> Telling:
        words = story_prose(story, cluster, voice), question_prose(question, voice)
        return Telling(telling, *words, options, position, prompt="world", rules="rules_seen", hint=hint)

    tellings = (
        told("third", Voice(language=language), "hint_third"),
        told("first", Voice(ego, language), "hint_whole"),
    )
    facets = {**facets_of(story, question, right), **facets}
    return Scene(id=name, cluster=cluster, tellings=tellings, facets=facets, language=language, ego=ego)
