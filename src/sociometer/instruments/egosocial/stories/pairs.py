"""Stories and their questions as scenes: each in the third person and, by rule, in the first."""

import random
import re
from collections.abc import Iterable, Iterator

from sociometer.instruments.egosocial.scene import Scene, Telling, arranged
from sociometer.instruments.egosocial.stories.agreement import check
from sociometer.instruments.egosocial.stories.generate import STORY_TYPES, Difficulty, generate
from sociometer.instruments.egosocial.stories.minds import Oracle, lived
from sociometer.instruments.egosocial.stories.tomi import TomiQuestion
from sociometer.instruments.egosocial.stories.wording import OFFICIAL, Wording, question_text, story_text
from sociometer.instruments.egosocial.stories.world import Move, Question, Story


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


def names_left(text: str, name: str) -> bool:
    """Whether a name still occurs in a text, as a word."""
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def tomi_scenes(
    questions: Iterable[TomiQuestion], split: str, selection: str, account: str = "whole"
) -> Iterator[Scene]:
    """Official questions as scenes: all of them, or those the authors of EgoSocialArena keep."""
    for asked in questions:
        if selection == "authors" and not asked.selected:
            continue
        name = f"tomi-{split}-{asked.number:04d}"
        verdict = check(asked)
        facets = {"type": asked.question_type, "cause": verdict.cause or "agrees"}
        yield _scene(
            name,
            f"tomi-{split}-story-{asked.story_number:04d}",
            asked.story,
            asked.question,
            OFFICIAL,
            right=verdict.corrected,
            official=asked.answer,
            facets={"story type": asked.story_type, **facets},
            account=account,
        )


def generated_scenes(seed: int, stories: int, level: Difficulty, account: str = "whole") -> Iterator[Scene]:
    """Generated stories from a seed, story types in turn; the same seed gives the same scenes, for any number."""
    for number in range(stories):
        rng = random.Random(f"egosocial story {number} of seed {seed} at {level}")
        made = generate(rng, STORY_TYPES[number % len(STORY_TYPES)], level)
        oracle = Oracle(made.story)
        story = f"generated-{seed}{_level(level)}-{number:04d}"
        for question in made.questions:
            right = oracle.answer(question)
            if right is None:
                raise ValueError(f"{story}: the story does not settle {question}")
            kind = question.kind if question.order == 0 else f"order{question.order}"
            yield _scene(
                f"{story}-{kind}",
                story,
                made.story,
                question,
                made.wording,
                right=right,
                official=None,
                facets={"story type": made.story_type},
                account=account,
            )


def _level(level: Difficulty) -> str:
    """What a scene's name says of a difficulty that is not the usual one, so that no two questions share a name."""
    if level == Difficulty():
        return ""
    counts = (level.bystanders, level.extra_moves, level.other_things, level.remarks, level.highest_order)
    return "-level" + "".join(str(count) for count in counts) + ("" if level.hearsay else "n")


def _scene(
    name: str,
    cluster: str,
    story: Story,
    question: Question,
    wording: Wording,
    *,
    right: str,
    official: str | None,
    facets: dict[str, str],
    account: str,
) -> Scene:
    ego = ego_of(story, question)
    shown, position = arranged(story.containers_of(question.thing), right, name)
    options = tuple(option.replace("_", " ") for option in shown) if wording.spaces else shown
    key = None if official is None else shown.index(official)
    own = lived(story, ego) if account == "lived" else story.events
    # What happened out of "your" sight needs a word in the prompt, unless it is left out of the account.
    prompts = ("question", "question") if official is not None else ("world_third", f"world_{account}")
    tellings = tuple(
        Telling(
            person,
            story_text(told, you, wording),
            question_text(question, you, wording),
            options,
            position,
            key,
            prompt=prompt,
        )
        for person, told, you, prompt in (("third", story.events, None, prompts[0]), ("first", own, ego, prompts[1]))
    )
    order = question.kind if question.order == 0 else str(question.order)
    if question.order:
        meets = right == Oracle(story).belief((), question.thing)
        facets = {**facets, "belief": "meets reality" if meets else "misses reality"}
    return Scene(
        id=name,
        cluster=cluster,
        tellings=tellings,
        facets={"order": order, "measures": measured_by(question.order), **facets},
        ego=ego,
    )
