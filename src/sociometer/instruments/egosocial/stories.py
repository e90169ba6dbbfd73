"""Stories of people, rooms and hidden things: their world, the oracle, their words, and how they are drawn from a seed.

A mind is a timeline: the events as one person knows them. `_mind_of` turns the timeline of a world into the timeline
of one person in it, so that a nested belief is the same step taken again: what Aria thinks that Ben thinks is the mind
of Ben within the mind of Aria.

A person knows what happens in the room they are in, what they are told, and what they find when they come in. Somebody
who comes back to find a thing moved does not know who saw it move, and a story does not say whether somebody who
forgets a thing's place also forgets who knew it. Two readings are offered: `presume=False` credits only what was
witnessed and forgets only the place; `presume=True` lets the person suppose that everyone they left in that room saw
the move, and forgets all that came with the place. Where the two differ, the story does not settle the question.

People go by the last that they saw or heard, and nobody suspects a lie: whoever hears one (the listener, an
eavesdropper) takes the teller to believe it. The teller of a lie keeps their own belief, and tells the same person
the same lie again. Whoever sends a message takes it for granted that it arrives and names its sender. Whoever forgets
the last that they learnt of a thing believes what they believed before. A glimpse teaches nobody anything.

Which of several sentences tells an event depends on the story and the event alone, so that all tellings of a story
differ only in the person.

In the tier `seen`, each story type has its plot. Stories of word of mouth and of the ladder are acted out step by
step: what anybody says follows from what the oracle finds that they believe, and in the tiers `told` and `deep` each
question hinges on such evidence: without it the answer would be different. Every level of the ladder adds people,
things or events, and more beliefs that the answer depends on.
"""

import random
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import accumulate, pairwise, permutations, product
from math import perm
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from sociometer.instruments.egosocial.scene import Scene, Telling, arranged_at

DATA = Path(__file__).parent / "data" / "stories"


class Enter(msgspec.Struct, frozen=True, tag=True):
    """A person comes into a room."""

    person: str
    room: str


class Exit(msgspec.Struct, frozen=True, tag=True):
    """A person leaves a room."""

    person: str
    room: str


class Place(msgspec.Struct, frozen=True, tag=True):
    """A thing lies in a container, in plain sight of everybody in the room."""

    thing: str
    container: str


class Move(msgspec.Struct, frozen=True, tag=True):
    """Somebody (or `None`, if nobody was seen) puts a thing into another container."""

    person: str | None
    thing: str
    container: str


class Tell(msgspec.Struct, frozen=True, tag=True):
    """One person tells another, in private, where a thing is.

    A teller who is not `honest` believes something else. `hearers` overhear it unnoticed. `source` is who sent it, if
    the teller passes a message on. `corrects` is for the wording: it puts right what somebody else said.
    """

    teller: str
    listener: str
    thing: str
    container: str
    honest: bool = True
    hearers: tuple[str, ...] = ()
    source: str = ""
    corrects: bool = False


class Send(msgspec.Struct, frozen=True, tag=True):
    """One person asks another to tell a third where a thing is, and assumes that this is done."""

    sender: str
    messenger: str
    listener: str
    thing: str
    container: str


class Lose(msgspec.Struct, frozen=True, tag=True):
    """A message that somebody was asked to pass on never arrives; nobody notices."""

    messenger: str
    listener: str


class Hear(msgspec.Struct, frozen=True, tag=True):
    """Somebody outside hears, without seeing anything and unnoticed, where the mover has just put a thing."""

    person: str
    mover: str
    thing: str
    container: str


class Glimpse(msgspec.Struct, frozen=True, tag=True):
    """Somebody outside notices that the mover put something into a container, but not what: nobody learns anything."""

    person: str
    mover: str
    container: str


class Forget(msgspec.Struct, frozen=True, tag=True):
    """A person forgets the last that they learnt about a thing; nobody else knows."""

    person: str
    thing: str


class Watch(msgspec.Struct, frozen=True, tag=True):
    """A person outside a room begins to watch it, unseen by anybody."""

    person: str
    room: str


class Unwatch(msgspec.Struct, frozen=True, tag=True):
    """A person who watched a room unseen turns away from it."""

    person: str
    room: str


class Remark(msgspec.Struct, frozen=True, tag=True):
    """A sentence that changes nobody's beliefs: a person likes or hates something."""

    person: str
    verb: str
    thing: str


Event = Enter | Exit | Place | Move | Tell | Send | Lose | Hear | Glimpse | Forget | Watch | Unwatch | Remark


class Story(msgspec.Struct, frozen=True):
    """A sequence of events, with the room in which each container stands."""

    events: tuple[Event, ...]
    rooms: dict[str, str]

    def people(self) -> tuple[str, ...]:
        """Everybody who acts, in order of appearance."""
        names: dict[str, None] = {}
        for event in self.events:
            for name in people_in(event):
                names.setdefault(name)
        return tuple(names)

    def containers_of(self, thing: str) -> tuple[str, ...]:
        """The containers named in the story that stand in the thing's room, in order of appearance."""
        held = holdings(self.events, thing)
        room = self.rooms[held[0]] if held else None
        named = (event.container for event in self.events if isinstance(event, Place | Move))
        return tuple(dict.fromkeys(name for name in named if self.rooms[name] == room))


class Question(msgspec.Struct, frozen=True):
    """A question about a thing's place.

    `memory`, `reality`, the nested `belief` of a chain of people, what the last of the chain would `say` to a listener
    who asks, as the others of the chain believe. Or a number over all `things`: how often the people `among` whom is
    asked would look where it really is (`right`), or are wrong about where another of them would look (`wrong`) or
    thinks that a third would (`nested`).
    """

    kind: str
    thing: str
    chain: tuple[str, ...] = ()
    listener: str = ""
    among: tuple[str, ...] = ()
    things: tuple[str, ...] = ()

    @property
    def order(self) -> int:
        """How many minds are nested in the question; 0 for memory and reality."""
        return len(self.chain)


def people_in(event: Event) -> tuple[str, ...]:
    """The people an event names."""
    if isinstance(event, Tell):
        return (event.teller, event.listener, *event.hearers)
    if isinstance(event, Send):
        return (event.sender, event.messenger, event.listener)
    if isinstance(event, Lose):
        return (event.messenger, event.listener)
    if isinstance(event, Hear | Glimpse):
        return (event.person, event.mover)
    if isinstance(event, Place) or event.person is None:
        return ()
    return (event.person,)


def holdings(events: Iterable[Event], thing: str) -> list[str]:
    """The containers in which a thing really was, one after the other."""
    return [event.container for event in events if isinstance(event, (Place, Move)) and event.thing == thing]


class Vocabulary(Struct, frozen=True):
    """The names of one language; no person's name is a form of another, so that one can be looked for as a word."""

    people: tuple[str, ...]
    rooms: tuple[str, ...]
    containers: tuple[str, ...]
    things: tuple[str, ...]


class StoryTexts(Struct, frozen=True, forbid_unknown_fields=True):
    """What fresh stories of one language are told with: names, sentences by kind, and questions."""

    words: Vocabulary
    overheard: str
    """The sentence that follows what somebody overhears."""
    sentences: dict[str, tuple[str, ...]]
    questions: dict[str, str]


@cache
def texts(language: str) -> StoryTexts:
    """The texts of a language."""
    return msgspec.convert(tomllib.loads((DATA / f"{language}.toml").read_text(encoding="utf-8")), StoryTexts)


class _Alone(Place, frozen=True, tag=True):
    """A thing's place as one mind alone has learnt it: nobody else sees it there."""


class _State:
    """Where each person is, and which thing is in which container, according to a timeline so far."""

    def __init__(self, rooms: dict[str, str]) -> None:
        self.rooms = rooms
        self.people: dict[str, str | None] = {}
        self.watching: dict[str, str] = {}
        self.things: dict[str, str] = {}

    def apply(self, event: Event) -> None:
        if isinstance(event, (Place, Move)):  # a tuple: a union would be built anew at each of very many calls
            self.things[event.thing] = event.container
        elif isinstance(event, Enter):
            self.people[event.person] = event.room
        elif isinstance(event, Exit):
            self.people[event.person] = None
        elif isinstance(event, Watch):
            self.watching[event.person] = event.room
        elif isinstance(event, Unwatch):
            self.watching.pop(event.person, None)

    def rooms_before(self, person: str) -> set[str]:
        """The rooms a person has before their eyes."""
        here, watched = self.people.get(person), self.watching.get(person)
        return {room for room in (here, watched) if room} if here or watched else set()

    def present(self, room: str) -> list[str]:
        return [name for name, place in self.people.items() if place == room]

    def things_in(self, room: str) -> list[tuple[str, str]]:
        return [(thing, box) for thing, box in self.things.items() if self.rooms.get(box) == room]


class _Mind:
    """What one person knows about a timeline: the events as they know them, and the resulting state of the world."""

    def __init__(self, rooms: dict[str, str]) -> None:
        self.known: list[Event] = []
        self.state = _State(rooms)
        self._rooms = rooms

    def learn(self, *events: Event) -> None:
        apply = self.state.apply
        for event in events:
            apply(event)
        self.known += events

    def arrive(self, world: _State, entry: Enter | Watch, presume: bool) -> None:
        """Learn what coming into a room, or looking into it, teaches: who is there, who is gone, where things lie."""
        room, me, known, state = entry.room, entry.person, self.known, self.state
        lying = world.things_in(room)
        if presume:
            known += [Move(None, thing, box) for thing, box in lying if state.things.get(thing, box) != box]
        for name in state.present(room):
            if name != me and world.people.get(name) != room:
                state.people[name] = None
                known.append(Exit(name, room))
        for name in world.present(room):
            if name != me and state.people.get(name) != room:
                state.people[name] = room
                known.append(Enter(name, room))
        state.apply(entry)
        known.append(entry)
        self.see(lying)

    def see(self, lying: list[tuple[str, str]]) -> None:
        """Learn where things lie in plain sight of everybody."""
        self.state.things.update(lying)
        self.known += [Place(thing, box) for thing, box in lying]

    def forget(self, thing: str, presume: bool) -> None:
        """Believe again in the place before the last, if there was one.

        With `presume`, all that was learnt of the thing since then is forgotten as well, such as who knows of it.
        """
        state, changed = _State(self._rooms), -1
        places: list[str] = []
        for position, event in enumerate(self.known):
            state.apply(event)
            place = state.things.get(thing)
            if place is not None and places[-1:] != [place]:
                places.append(place)
                changed = position
        if len(places) < 2:
            return
        if not presume:
            self.learn(_Alone(thing, places[-2]))
            return
        # What came with the news (who told it, who sent it) goes with it: it may come before or after the new place.
        first = changed - 1 if changed and _news_of(self.known[changed - 1], thing, places[-1]) else changed
        kept = [*self.known[:first], *(event for event in self.known[first:] if getattr(event, "thing", "") != thing)]
        self.known, self.state = [], _State(self._rooms)
        self.learn(*kept)


def _news_of(event: Event, thing: str, place: str) -> bool:
    return isinstance(event, Tell | Send | Hear) and (event.thing, event.container) == (thing, place)


def _mind_of(events: Sequence[Event], person: str, rooms: dict[str, str], presume: bool) -> _Mind:
    world, mind = _State(rooms), _Mind(rooms)
    seen: set[str] = set()
    for event in events:
        if isinstance(event, (Place, Move)):
            world.things[event.thing] = event.container
            if rooms.get(event.container) in seen and not isinstance(event, _Alone):
                mind.state.things[event.thing] = event.container
                mind.known.append(event)
        elif isinstance(event, Enter):
            world.people[event.person] = event.room
            if event.person == person:
                seen = world.rooms_before(person)
                mind.arrive(world, event, presume)
            elif event.room in seen:
                mind.learn(event)
                # The newcomer looks around in front of everybody, so all of them know that all of them know.
                mind.see(world.things_in(event.room))
        elif isinstance(event, Exit):
            world.people[event.person] = None
            if event.person == person or event.room in seen:
                mind.learn(event)
                seen = world.rooms_before(person)
        elif isinstance(event, Tell):
            _hear_telling(mind, event, person, presume)
        elif isinstance(event, Send):
            _hear_sending(mind, event, person, presume)
        elif isinstance(event, Hear):
            _hear_moving(mind, event, person, presume)
        elif isinstance(event, (Watch, Unwatch, Forget)) and event.person == person:
            if isinstance(event, Forget):
                mind.forget(event.thing, presume)
                continue
            world.apply(event)
            seen = world.rooms_before(person)
            if isinstance(event, Watch):
                mind.arrive(world, event, presume)
            else:
                mind.learn(event)
    return mind


def _hear_telling(mind: _Mind, event: Tell, person: str, presume: bool) -> None:
    """What a telling teaches the teller, the listener and each who overhears it: nobody notices the latter."""
    if person == event.teller and not event.honest:
        mind.learn(structs.replace(event, hearers=()))
        return
    if person not in (event.teller, event.listener, *event.hearers):
        return
    if event.source and person != event.teller:
        mind.learn(Send(event.source, event.teller, event.listener, event.thing, event.container))
    heard_by = (person,) if person in event.hearers else ()
    mind.learn(*_news(mind.state, structs.replace(event, honest=True, hearers=heard_by), presume))


def _hear_sending(mind: _Mind, event: Send, person: str, presume: bool) -> None:
    """What a message teaches its sender and its messenger; the sender assumes that it arrives in the sender's name."""
    if person in (event.sender, event.messenger):
        asked = Tell(event.sender, event.messenger, event.thing, event.container)
        mind.learn(*_news(mind.state, asked, presume), event)
    if person == event.sender:
        mind.learn(Tell(event.messenger, event.listener, event.thing, event.container, source=event.sender))


def _hear_moving(mind: _Mind, event: Hear, person: str, presume: bool) -> None:
    """What hearing a move teaches: the place, and that the mover knows it (and, if presumed, who was there too)."""
    if person not in (event.person, event.mover) or mind.state.things.get(event.thing) == event.container:
        if person == event.person:
            mind.learn(event)
        return
    if presume and person == event.person:
        mind.learn(Move(event.mover, event.thing, event.container), event)
    else:
        mind.learn(_Alone(event.thing, event.container), *([event] if person == event.person else []))


def _news(mind: _State, event: Tell, presume: bool) -> list[Event]:
    """What being told (or telling) where a thing is teaches."""
    if mind.things.get(event.thing) == event.container:
        return [event]
    if presume and event.thing in mind.things:
        return [Move(None, event.thing, event.container), event]
    return [_Alone(event.thing, event.container), event]


class Oracle:
    """Answers any question about one story; each mind is worked out once."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._minds: dict[tuple[bool, tuple[str, ...]], _Mind] = {}

    def belief(self, chain: tuple[str, ...], thing: str, presume: bool = True) -> str | None:
        """Where the first of the chain thinks that the second thinks … the thing is; None if they cannot know.

        The empty chain gives where the thing really is.
        """
        return self._mind(chain, presume).state.things.get(thing)

    def answer(self, question: Question, presume: bool = True) -> str | None:
        """The right answer to a question, or None if the person has never known of the thing."""
        if question.kind == "say":
            return self._said(question, presume)
        if question.kind == "memory":
            placed = (e for e in self._story.events if isinstance(e, Place) and e.thing == question.thing)
            return next((event.container for event in placed), None)
        return self.belief(question.chain, question.thing, presume)

    def _said(self, question: Question, presume: bool) -> str | None:
        """The lie that the speaker told this listener, as the chain knows it; otherwise what the speaker believes."""
        speaker = question.chain[-1]
        lies = [
            event.container
            for event in self._mind(question.chain, presume).known
            if isinstance(event, Tell)
            and not event.honest
            and (event.teller, event.listener, event.thing) == (speaker, question.listener, question.thing)
        ]
        return lies[-1] if lies else self.belief(question.chain, question.thing, presume)

    def settled(self, question: Question) -> bool:
        """Whether the story settles the question: both readings of an unseen move agree on one place."""
        found = self.answer(question, presume=True)
        return found is not None and found == self.answer(question, presume=False)

    def timeline(self, person: str) -> Sequence[Event]:
        """The story as one person knows it."""
        return self._mind((person,), presume=True).known

    def _mind(self, chain: tuple[str, ...], presume: bool) -> _Mind:
        if (presume, chain) not in self._minds:
            if chain:
                outer = self._mind(chain[:-1], presume).known
                mind = _mind_of(outer, chain[-1], self._story.rooms, presume)
            else:
                mind = _Mind(self._story.rooms)
                mind.learn(*self._story.events)
            self._minds[presume, chain] = mind
        return self._minds[presume, chain]


def plural(thing: str) -> bool:
    """Whether the name of a thing takes "are"."""
    return thing.endswith("s") and not thing.endswith("ss")


def english_noun(noun: str, slot: str, form: str) -> str:
    """A noun with its article, with the verb that follows it (`was`, `is`), or as a pronoun (`it`)."""
    if slot == "it":
        shown = "them" if plural(noun) and form != "was" else "they" if plural(noun) else "it"
    else:
        shown = f"the {noun.replace('_', ' ')}"
    verb_form, _, asked = form.partition("_")
    if not verb_form:
        return shown
    word = {"was": "were", "is": "are"}[verb_form] if plural(noun) else verb_form
    return f"{word} {shown}" if asked else f"{shown} {word}"


_OVERHEARD = "Overheard"
_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")
_START = re.compile(r"(?:^|(?<=[.!?] )|(?<=“))[a-z]")


class Voice(Struct, frozen=True):
    """Who is "you"; an empty `ego` names everybody."""

    ego: str = ""
    language: str = "en"

    def person(self, name: str, form: str) -> str:
        """A person as subject (no form), object (`o`), owner (`s`), or subject with a verb that changes with it."""
        mine = bool(self.ego) and name == self.ego
        if self.language == "zh":
            return "你" if mine else name
        subject = "you" if mine else name
        shapes = {
            "": subject,
            "o": subject,
            "s": "your" if mine else f"{name}'s",
            "was": f"{subject} {'were' if mine else 'was'}",
            "think": f"{subject} {'think' if mine else 'thinks'}",
            "does": f"{'do' if mine else 'does'} {subject}",
        }
        return shapes[form]


def story_prose(story: Story, key: str, voice: Voice) -> str:
    """A story as one paragraph.

    The forms of a kind of sentence take turns, in an order that depends on `key`, the story's name.
    """
    told: list[str] = []
    used: Counter[str] = Counter()
    held: dict[str, str] = {}
    for event in story.events:
        kind, people, words = _slots(event, held)
        if isinstance(event, Place | Move):
            held[event.thing] = event.container
        forms = _forms(kind, voice.language)
        random.Random(f"{key} {kind}").shuffle(forms)
        told.append(_fill(forms[used[kind] % len(forms)], people, words, voice))
        used[kind] += 1
    return ("" if voice.language == "zh" else " ").join(told)


def _forms(kind: str, language: str) -> list[str]:
    """The sentences of a kind; what is overheard has one more sentence."""
    known = texts(language)
    plain = kind.removesuffix(_OVERHEARD)
    return [form + (known.overheard if plain != kind else "") for form in known.sentences[plain]]


def _slots(event: Event, held: Mapping[str, str]) -> tuple[str, dict[str, str], dict[str, str]]:
    """The kind of sentence that tells an event, and the contents of its slots; `held` is where things are before it."""
    if isinstance(event, Enter | Exit | Watch | Unwatch):
        opening = isinstance(event, Enter) and not held
        return ("Open" if opening else type(event).__name__), {"A": event.person}, {"room": event.room}
    if isinstance(event, Place):
        return "Place", {}, {"thing": event.thing, "box": event.container}
    if isinstance(event, Move):
        words = {"thing": event.thing, "box": event.container, "old": held[event.thing]}
        return "Move", {"A": event.person or ""}, words
    if isinstance(event, Tell):
        kind = "Lie" if not event.honest else "Relay" if event.source else "Correct" if event.corrects else "Tell"
        people = {"A": event.teller, "B": event.listener, "S": event.source, "O": "".join(event.hearers)}
        return kind + (_OVERHEARD if event.hearers else ""), people, {"thing": event.thing, "box": event.container}
    if isinstance(event, Send):
        people = {"A": event.sender, "M": event.messenger, "B": event.listener}
        return "Send", people, {"thing": event.thing, "box": event.container}
    if isinstance(event, Lose):
        return "Lose", {"M": event.messenger, "B": event.listener}, {}
    if isinstance(event, Hear | Glimpse):
        words = {"box": event.container, "thing": event.thing if isinstance(event, Hear) else ""}
        return type(event).__name__, {"O": event.person, "A": event.mover}, words
    if isinstance(event, Forget):
        return "Forget", {"A": event.person}, {"thing": event.thing}
    return f"Remark {event.verb}", {"A": event.person}, {"liked": event.thing}


def question_prose(question: Question, voice: Voice) -> str:
    """The question as put to a reader, or to the person who is "you"."""
    forms = texts(voice.language).questions
    words = {"thing": question.thing}
    if question.kind in ("memory", "reality"):
        return _fill(forms[question.kind], {}, words, voice)
    if question.among:
        named = [voice.person(name, "o") for name in question.among]
        things = [_filled("{thing}", {}, {"thing": thing}, voice) for thing in question.things]
        return forms[question.kind].format(names=_listed(named, voice), things=_listed(things, voice))
    *minds, last = question.chain
    thoughts = [
        _filled(forms["first thought" if place == 0 else "thought"], {"A": name}, {}, voice)
        for place, name in enumerate(minds)
    ]
    form = f"{question.kind} nested" if minds else question.kind
    asked = forms[form].replace("{thoughts}", forms["between"].join(thoughts))
    return _fill(asked, {"A": last, "B": question.listener}, words, voice)


def _listed(words: list[str], voice: Voice) -> str:
    *most, end = words
    return f"{'、'.join(most)}和{end}" if voice.language == "zh" else f"{', '.join(most)} and {end}"


def _fill(form: str, people: Mapping[str, str], words: Mapping[str, str], voice: Voice) -> str:
    """Whole sentences with their slots filled, each with a capital."""
    return _START.sub(lambda start: start[0].upper(), _filled(form, people, words, voice))


def _filled(form: str, people: Mapping[str, str], words: Mapping[str, str], voice: Voice) -> str:
    def put(slot: re.Match[str]) -> str:
        name, shape = slot[1], slot[2] or ""
        if name in people:
            return voice.person(people[name], shape)
        if voice.language == "zh":
            return words[name]
        return english_noun(words.get("thing" if name == "it" else name, ""), name, shape)

    return _SLOT.sub(put, form)


def option_words(container: str) -> str:
    """A container as an answer option."""
    return container.replace("_", " ")


STORY_TYPES = ("true_belief", "false_belief", "second_order_false_belief", "third_order_false_belief")
STORY_ATTEMPTS = 1000
STRICT_ATTEMPTS = 400
"""The number of times a story is drawn again for the wanted kind of questions; then any settled question is used."""


class Generated(msgspec.Struct, frozen=True):
    """A generated story with its type and its questions."""

    story: Story
    story_type: str
    questions: tuple[Question, ...]


class _Cast:
    """The people and things of one story."""

    def __init__(self, rng: random.Random, words: Vocabulary) -> None:
        self.seeker, self.mover, self.bystander = rng.sample(words.people, 3)
        self.room, self.elsewhere = rng.sample(words.rooms, 2)
        (self.thing,) = rng.sample(words.things, 1)
        self.boxes = rng.sample(words.containers, 2)
        self.likable = (*words.rooms, *words.things)
        self.rooms = dict.fromkeys(self.boxes, self.room)


def generate(rng: random.Random, story_type: str, language: str = "en", turn: int = 0) -> Generated:
    """One story of the wanted type with at least one settled question of each order.

    The `turn` of a story among those of its type decides at which orders the belief is to miss reality.
    """
    if story_type not in STORY_TYPES:
        raise ValueError(f"unknown story type {story_type!r}; allowed are {', '.join(STORY_TYPES)}")
    misses = _MISSES[story_type][turn % len(_MISSES[story_type])]
    leaver = story_type == "true_belief" or (story_type != "false_belief" and misses[0])
    for attempt in range(STORY_ATTEMPTS):
        cast = _Cast(rng, texts(language).words)
        plot = rng.choice(_plots(cast)[story_type])
        story = Story(tuple(_dress(rng, cast, plot, leaver=leaver)), cast.rooms)
        oracle = Oracle(story)
        if classify(oracle, cast.seeker, cast.mover, cast.thing) != story_type:
            continue
        questions = _settled_questions(rng, oracle, cast, misses, strict=attempt < STRICT_ATTEMPTS)
        if questions is not None:
            return Generated(story, story_type, questions)
    raise RuntimeError(f"no {story_type} story found in {STORY_ATTEMPTS} attempts")


_T, _F = True, False
_MISSES: dict[str, tuple[tuple[bool, bool, bool, bool], ...]] = {
    "true_belief": ((_T, _T, _F, _T), (_T, _F, _T, _F), (_F, _T, _T, _F), (_T, _F, _F, _T)),
    "false_belief": ((_T, _T, _F, _F), (_T, _F, _T, _T), (_F, _T, _F, _T), (_T, _F, _T, _F)),
    "second_order_false_belief": ((_T, _T, _T, _T), (_F, _T, _F, _F), (_F, _F, _T, _F), (_F, _F, _F, _T)),
    "third_order_false_belief": ((_F, _T, _T, _F), (_T, _F, _T, _T), (_F, _T, _F, _F), (_F, _F, _F, _T)),
}
"""At which orders the belief misses reality, for the stories of a type in turn.

Over four stories of each type it is one half at every order. Where somebody left early, nearly all beliefs of higher
order miss reality in stories of the last two types, so that there the rows with a first True have others.
"""


def classify(oracle: Oracle, seeker: str, mover: str, thing: str) -> str | None:
    """The story's type: the shallowest nested belief of seeker and mover that misses reality."""
    real = oracle.belief((), thing)
    sure = [chain for chain in _alternating(seeker, mover) if oracle.settled(Question("belief", thing, chain))]
    values = {chain: oracle.belief(chain, thing) for chain in sure}
    own, of_seeker = values.get((seeker,)), values.get((mover, seeker))
    back = values.get((seeker, mover, seeker))
    if own is None or of_seeker is None:
        return None
    if own != real:
        return "false_belief"
    if values.get((seeker, mover)) == real and back not in (None, real):
        return "third_order_false_belief"
    if of_seeker != real:
        return "second_order_false_belief"
    return "true_belief" if set(values.values()) == {real} else None


def _alternating(seeker: str, mover: str) -> list[tuple[str, ...]]:
    pair = (seeker, mover)
    return [tuple(pair[(start + i) % 2] for i in range(n)) for n in range(1, 5) for start in (0, 1)]


def _plots(cast: _Cast) -> dict[str, tuple[list[Event], ...]]:
    """What seeker and mover may do once the thing has been put in its place, by type of story."""
    out, back = Exit(cast.seeker, cast.room), Enter(cast.seeker, cast.room)
    move, mover_out = Move(cast.mover, cast.thing, cast.boxes[1]), Exit(cast.mover, cast.room)
    by_mover, by_bystander = (
        Tell(teller, cast.seeker, cast.thing, cast.boxes[1]) for teller in (cast.mover, cast.bystander)
    )
    elsewhere = Enter(cast.seeker, cast.elsewhere)
    watch, unwatch = Watch(cast.seeker, cast.room), Unwatch(cast.seeker, cast.room)
    return {
        "true_belief": ([move, out], [out, back, move], [out, move, back], [out, move, by_mover]),
        "false_belief": ([out, move], [out, elsewhere, move], [out, move, mover_out]),
        "second_order_false_belief": ([out, move, mover_out, back], [out, move, by_bystander]),
        "third_order_false_belief": ([out, watch, move, unwatch],),
    }


def _dress(rng: random.Random, cast: _Cast, plot: list[Event], *, leaver: bool) -> list[Event]:
    """The plot with an opening, a bystander who comes and goes, and an idle remark.

    A bystander who is a `leaver` sees the thing in its place and is gone before it is moved.
    """
    first, second = rng.sample((cast.seeker, cast.mover), 2)
    opening: list[Event] = [Enter(first, cast.room), Enter(second, cast.room)]
    events: list[Event] = [*opening, Place(cast.thing, cast.boxes[0]), *plot]
    if leaver:
        _leave_early(rng, events, cast.bystander, cast)
    else:
        room = cast.room if rng.random() < 0.7 else cast.elsewhere
        visit: list[Event] = [Enter(cast.bystander, room)]
        if rng.random() < 0.5:
            visit.append(Exit(cast.bystander, room))
        _insert(rng, events, visit)
    people = (cast.seeker, cast.mover, cast.bystander)
    liked = rng.choice([word for word in cast.likable if word not in (cast.room, cast.thing)])
    _insert(rng, events, [Remark(rng.choice(people), rng.choice(("likes", "dislikes")), liked)])
    return events if _possible(events, cast.rooms) else []


def _leave_early(rng: random.Random, events: list[Event], name: str, cast: _Cast) -> None:
    """Let somebody come in, see where the thing lies and leave before anybody moves it."""
    moved = next(place for place, event in enumerate(events) if isinstance(event, Move) and event.thing == cast.thing)
    entry = rng.randint(0, moved)
    events.insert(entry, Enter(name, cast.room))
    seen = max(events.index(Place(cast.thing, cast.boxes[0])), entry)
    # a move before the thing was there makes the story impossible, wherever the exit stands
    events.insert(rng.randint(seen + 1, max(seen, moved) + 1), Exit(name, cast.room))


def _insert(rng: random.Random, events: list[Event], new: Sequence[Event]) -> None:
    position = 0
    for event in new:
        position = rng.randint(position, len(events)) if position < len(events) else len(events)
        events.insert(position, event)
        position += 1


def _possible(events: Sequence[Event], rooms: dict[str, str]) -> bool:
    """Whether every person is in the right room for each action, and says only what they believe."""
    where: dict[str, str | None] = {}
    held: dict[str, str] = {}
    for position, event in enumerate(events):
        if isinstance(event, Enter):
            where[event.person] = event.room
        elif isinstance(event, Exit):
            where[event.person] = None
        elif isinstance(event, Place):
            held[event.thing] = event.container
        elif isinstance(event, Move):
            here = where.get(event.person or "") == rooms[event.container]
            if not here or held.get(event.thing) in (None, event.container):
                return False
            held[event.thing] = event.container
        elif isinstance(event, Tell):
            past = Oracle(Story(tuple(events[:position]), rooms))
            if past.belief((event.teller,), event.thing) != event.container:
                return False
    return True


def _settled_questions(
    rng: random.Random, oracle: Oracle, cast: _Cast, misses: Sequence[bool], *, strict: bool
) -> tuple[Question, ...] | None:
    """Memory, reality and one settled question of each order, missing reality where that is wanted.

    None if the story has no settled question of an order, or (if `strict`) none as wanted.
    """
    asked = [Question("memory", cast.thing), Question("reality", cast.thing)]
    people = (cast.seeker, cast.mover, cast.bystander)
    real = oracle.belief((), cast.thing)
    for order, missed in enumerate(misses, 1):
        open_to_ask = [
            Question("belief", cast.thing, chain)
            for chain in product(people, repeat=order)
            if all(a != b for a, b in pairwise(chain))
        ]
        fit = [question for question in open_to_ask if oracle.settled(question)]
        pool = [question for question in fit if (oracle.answer(question) != real) == missed]
        if not fit or (not pool and strict):
            return None
        asked.append(rng.choice(pool or fit))
    return tuple(asked)


EVIDENCE = ("lie", "mistake", "overheard", "relayed", "lost message", "correction", "heard", "glimpse", "forgetting")
ROLES = ("real", "first", "other")
"""Where the thing really is, where it was at first, and the third place: each is the answer equally often."""
ATTEMPTS = 4000
COMPARED = 4
"""How many stories are found before the one that balances the answers best is told."""
WEIGHED = 5
"""How many questions with the same role of the answer are examined."""


class Tier(msgspec.Struct, frozen=True):
    """How long the stories of a tier are, and what is asked about each: kind and order of the questions.

    `hinges` is how many questions must hinge on evidence; a `tangled` story has several kinds of it.
    """

    name: str
    people: int
    steps: int
    moves: int
    asked: tuple[tuple[str, int], ...]
    hinges: int
    tangled: bool


TOLD = Tier("told", 4, 5, 2, (("belief", 1), ("belief", 2), ("say", 1)), 2, False)
DEEP = Tier("deep", 4, 9, 3, (("belief", 2), ("belief", 3), ("belief", 4), ("say", 3)), 3, True)
TIERS = {tier.name: tier for tier in (TOLD, DEEP)}


class Asked(msgspec.Struct, frozen=True):
    """A question with the evidence that it hinges on."""

    question: Question
    evidence: str


class Testified(msgspec.Struct, frozen=True):
    """A story with the testimony of several people, and its questions."""

    story: Story
    asked: tuple[Asked, ...]


class _Step(msgspec.Struct, frozen=True):
    """Something that may happen next: its events, and the kind of evidence that they are (empty: none)."""

    kind: str
    events: tuple[Event, ...]


class AnswerCounts:
    """How often each role has been an answer so far, in all and for each kind and order of question."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, ...]] = Counter()

    def cost(self, roles: Sequence[str], tier: Tier) -> float:
        """How far the answers would be from an even share of the roles."""
        counts = self._counts.copy()
        counts.update(self._keys(roles, tier))
        return sum(count * count for count in counts.values())

    def enter(self, roles: Sequence[str], tier: Tier) -> None:
        """Count the answers of a story."""
        self._counts.update(self._keys(roles, tier))

    def _keys(self, roles: Sequence[str], tier: Tier) -> Iterator[tuple[str, ...]]:
        for role, (kind, order) in zip(roles, tier.asked, strict=True):
            yield (role,)
            yield (role, kind, str(order))


def testify(rng: random.Random, tier: Tier, words: Vocabulary, number: int, counts: AnswerCounts) -> Testified:
    """The story of this number: kinds of evidence take turns; of several stories, the one that balances the answers."""
    wanted = EVIDENCE[number % len(EVIDENCE)]
    found: list[tuple[float, _Scene, tuple[str, ...], tuple[Asked, ...]]] = []
    for _ in range(ATTEMPTS):
        scene = _Scene(rng, tier, words)
        if not scene.act(wanted):
            continue
        made = _questions(rng, scene, tier, wanted, counts)
        if made is not None:
            roles, asked = made
            found.append((counts.cost(roles, tier), scene, roles, asked))
            if len(found) == COMPARED:
                break
    if not found:
        raise RuntimeError(f"no story with {wanted} found in {ATTEMPTS} attempts for the tier {tier.name}")
    _, scene, roles, asked = min(found, key=lambda one: one[0])
    counts.enter(roles, tier)
    return Testified(scene.story(), asked)


class _Scene:
    """One story while it is acted out."""

    def __init__(self, rng: random.Random, tier: Tier, words: Vocabulary) -> None:
        self.rng, self.tier = rng, tier
        self.people = rng.sample(words.people, tier.people)
        self.room = rng.choice(words.rooms)
        self.thing = rng.choice(words.things)
        self.boxes = rng.sample(words.containers, len(ROLES))
        self.inside: list[str] = []
        self.events: list[Event] = []
        self.evidence: list[_Step] = []
        self.oracle = Oracle(self.story())

    def story(self, without: Sequence[Event] = ()) -> Story:
        """The story so far, with or without some of its events."""
        left_out = set(map(id, without))
        events = tuple(event for event in self.events if id(event) not in left_out)
        return Story(events, dict.fromkeys(self.boxes, self.room))

    def real(self) -> str:
        return holdings(self.events, self.thing)[-1]

    def act(self, wanted: str) -> bool:
        """Act the story out; whether the wanted kind of evidence came up."""
        self._open()
        steps = self.tier.steps + self.rng.randint(0, 2)
        for left in range(steps, 0, -1):
            done = {step.kind for step in self.evidence}
            options = [step for step in self._next() if step.kind not in done]
            mine = [step for step in options if step.kind == wanted]
            due = wanted not in done and (left <= 2 or self.rng.random() < 0.4)
            if mine and due:
                self._do(self.rng.choice(mine))
                continue
            usual = (*_PLAIN, "lie") if wanted == "correction" else _PLAIN
            kinds = sorted({step.kind for step in options if self.tier.tangled or step.kind in usual})
            if not kinds:
                return False
            kind = self.rng.choices(kinds, [_WEIGHTS.get(kind, 2) for kind in kinds])[0]
            self._do(self.rng.choice([step for step in options if step.kind == kind]))
        places = holdings(self.events, self.thing)
        self.oracle = Oracle(self.story())
        named = {event.container for event in self.events if isinstance(event, Place | Move | Tell)}
        found = any(step.kind == wanted for step in self.evidence)
        return found and places[-1] != places[0] and named == set(self.boxes)

    def _open(self) -> None:
        for position, name in enumerate(self.people):
            if position == 2:
                self._do(_Step("", (Place(self.thing, self.boxes[0]),)))
            self._do(_Step("enter", (Enter(name, self.room),)))

    def _do(self, step: _Step) -> None:
        for event in step.events:
            if isinstance(event, Enter):
                self.inside.append(event.person)
            elif isinstance(event, Exit):
                self.inside.remove(event.person)
        self.events += step.events
        if step.kind in EVIDENCE:
            self.evidence.append(step)

    def _next(self) -> Iterator[_Step]:
        outside = [name for name in self.people if name not in self.inside]
        oracle = Oracle(self.story())
        belief = {name: oracle.belief((name,), self.thing) for name in self.people}
        yield from self._comings(outside)
        yield from self._moves(outside)
        for teller, listener in permutations(outside, 2):
            held = belief[teller]
            if held is not None:
                yield from self._tellings(teller, listener, held, belief, outside, oracle)
        for name in outside:
            moved = [event.person for event in self.events if isinstance(event, Move)]
            if has_one_news(oracle.timeline(name), self.thing) and name not in moved:
                yield _Step("forgetting", (Forget(name, self.thing),))

    def _comings(self, outside: Sequence[str]) -> Iterator[_Step]:
        last = self.events[-1]
        for name in self.inside:
            if len(self.inside) > 1 and not (isinstance(last, Enter) and last.person == name):
                yield _Step("exit", (Exit(name, self.room),))
        for name in outside:
            if not isinstance(last, Exit) and any(isinstance(event, Move) for event in self.events):
                yield _Step("enter", (Enter(name, self.room),))

    def _moves(self, outside: Sequence[str]) -> Iterator[_Step]:
        made = sum(isinstance(event, Move) for event in self.events)
        if not outside or made >= self.tier.moves or isinstance(self.events[-1], Move):
            return
        for name, box in product(self.inside, self.boxes):
            if box == self.real():
                continue
            move = Move(name, self.thing, box)
            yield _Step("move", (move,))
            for listener in outside:
                yield _Step("heard", (move, Hear(listener, name, self.thing, box)))
                yield _Step("glimpse", (move, Glimpse(listener, name, box)))

    def _tellings(
        self,
        teller: str,
        listener: str,
        held: str,
        belief: dict[str, str | None],
        outside: Sequence[str],
        oracle: Oracle,
    ) -> Iterator[_Step]:
        def news(speaker: str, hearer: str, box: str) -> bool:
            """Whether it is news to the hearer, and not what they suppose that the speaker believes for want of it."""
            return belief[hearer] != box and oracle.belief((hearer, speaker), self.thing) != box

        others = [name for name in outside if name not in (teller, listener)]
        told = [event for event in self.events if isinstance(event, Tell) and event.listener == listener]
        lied = any(not event.honest and event.teller == teller for event in told)
        if news(teller, listener, held) and not lied:
            corrects = bool(told) and told[-1].container == belief[listener] and told[-1].teller != teller
            kind = "mistake" if held != self.real() else "correction" if corrects else "told"
            yield _Step(kind, (Tell(teller, listener, self.thing, held, corrects=kind == "correction"),))
            for hearer in others:
                if news(teller, hearer, held):
                    yield _Step("overheard", (Tell(teller, listener, self.thing, held, hearers=(hearer,)),))
            for messenger in others:
                if not news(messenger, listener, held) or not (
                    belief[messenger] == held or news(teller, messenger, held)
                ):
                    continue
                sent = Send(teller, messenger, listener, self.thing, held)
                yield _Step("relayed", (sent, Tell(messenger, listener, self.thing, held, source=teller)))
                yield _Step("lost message", (sent, Lose(messenger, listener)))
        for box in self.boxes:
            if box != held and news(teller, listener, box):
                yield _Step("lie", (Tell(teller, listener, self.thing, box, honest=False),))


def has_one_news(timeline: Sequence[Event], thing: str) -> bool:
    """Whether somebody knows a place and an earlier one, and nothing has confirmed the latter since they learnt it."""
    places = holdings(timeline, thing)
    if len(set(places)) < 2:
        return False
    before, later = "", 0
    for event in timeline:
        if isinstance(event, (Place, Move)) and event.thing == thing:
            later = later if before == places[-1] else 0
            before = event.container
        elif isinstance(event, (Tell, Send, Hear)) and event.thing == thing:
            later += 1
    return later < 2


_Hinge = Callable[[Question, str], str]
_PLAIN = ("exit", "enter", "move", "told")
_WEIGHTS = {"exit": 5, "enter": 2, "move": 6, "told": 1, "glimpse": 1, "forgetting": 1}


def _questions(
    rng: random.Random, scene: _Scene, tier: Tier, wanted: str, counts: AnswerCounts
) -> tuple[tuple[str, ...], tuple[Asked, ...]] | None:
    """One question for each kind and order of the tier, with the roles of their answers that were rarest so far.

    None if too few of them hinge on evidence, or none on the wanted kind.
    """
    hinge = _hinges(scene, wanted)
    fitting = [_by_role(rng, scene, kind, order, hinge) for kind, order in tier.asked]
    choices = [roles for roles in product(ROLES, repeat=len(fitting)) if all(map(dict.get, fitting, roles))]
    rng.shuffle(choices)
    for roles in sorted(choices, key=lambda roles: counts.cost(roles, tier)):
        asked = []
        for found, role in zip(fitting, roles, strict=True):
            best = [one for one in found[role] if one.evidence == wanted]
            some = [one for one in found[role] if one.evidence]
            asked.append(rng.choice(best or some or found[role]))
        if sum(bool(one.evidence) for one in asked) >= tier.hinges and any(one.evidence == wanted for one in asked):
            return roles, tuple(asked)
    return None


def _by_role(rng: random.Random, scene: _Scene, kind: str, order: int, hinge: _Hinge) -> dict[str, list[Asked]]:
    """Some settled questions of a kind and order by the role of their answer, each with what it hinges on."""
    oracle, real, first = scene.oracle, scene.real(), scene.boxes[0]
    found: dict[str, list[Asked]] = {role: [] for role in ROLES}
    questions = list(_askable(scene, kind, order))
    rng.shuffle(questions)
    for question in questions:
        if all(len(mine) == WEIGHED for mine in found.values()):
            break
        right = oracle.answer(question)
        if right is None:
            continue
        mine = found["real" if right == real else "first" if right == first else "other"]
        if len(mine) < WEIGHED and oracle.settled(question):
            mine.append(Asked(question, hinge(question, right)))
    return found


def _askable(scene: _Scene, kind: str, order: int) -> Iterator[Question]:
    for chain in product(scene.people, repeat=order):
        if any(one == two for one, two in pairwise(chain)):
            continue
        if kind == "belief":
            yield Question("belief", scene.thing, chain)
            continue
        for listener in scene.people:
            if listener not in chain[-2:] or (order > 1 and listener == chain[-2]):
                yield Question("say", scene.thing, chain, listener)


def _hinges(scene: _Scene, wanted: str) -> _Hinge:
    """The kind of evidence that a question hinges on: without it the answer would be different.

    The wanted kind is looked for first; empty if there is none.
    """
    without = [
        (step, Oracle(scene.story([event for event in step.events if not isinstance(event, Move)])))
        for step in sorted(scene.evidence, key=lambda step: step.kind != wanted)
    ]

    def kind(question: Question, right: str) -> str:
        for step, oracle in without:
            known = step.events[-1]
            if isinstance(known, Glimpse):
                # It teaches nothing: asked is about somebody who would be wrong to make something of it.
                hinges = question.chain[-1] == known.person and right != known.container == scene.real()
            elif isinstance(known, Lose) and question.chain in ((known.listener,), (known.messenger, known.listener)):
                hinges = True
            else:
                hinges = oracle.answer(question) != right
            if hinges:
                return step.kind
        return ""

    return kind


HIGHEST_LEVEL = 20
PLACES = 4
"""Few, so that somebody who knows nothing of a move may be right all the same."""
MOST_OPTIONS = 8
ORDERS = {"belief": 1, "right": 1, "wrong": 2, "nested": 3}
"""The kinds of questions, and how many people each belief that they ask about involves."""


class Rung(Struct, frozen=True):
    """What a story of a level has, and what is asked about it: a kind of question about `minds` people."""

    kind: str
    people: int
    minds: int
    things: int
    steps: int

    @property
    def beliefs(self) -> int:
        """How many beliefs the answer depends on."""
        return 1 if self.kind == "belief" else perm(self.minds, ORDERS[self.kind]) * self.things

    @property
    def options(self) -> int:
        """How many options the question has."""
        return PLACES if self.kind == "belief" else min(MOST_OPTIONS, self.beliefs + 1)


def rung(level: int) -> Rung:
    """The difficulty of a level: each adds a person and three tenths of the steps, every second a thing.

    Level 1 asks where somebody will look, levels 2 and 3 how often people are right about things. From level 4 the
    question is how often people are wrong about where others will look, from level 10 how often they are wrong about
    where others think that a third will look; level 10 therefore starts again with fewer people.
    """
    if not 1 <= level <= HIGHEST_LEVEL:
        raise ValueError(f"level {level} is not between 1 and {HIGHEST_LEVEL}")
    kind = "belief" if level == 1 else "right" if level < 4 else "wrong" if level < 10 else "nested"
    minds = max(3, level) if level < 10 else level - 4
    return Rung(kind, minds + 1, minds, max(2, minds // 2), round(4 * 1.3 ** (level - 1)))


@lru_cache(maxsize=256)
def climbed(seed: int, level: int, number: int, language: str) -> Scene:
    """The question of a number at a level, in the third and the first person; the same for every subject."""
    name = f"ladder-{seed}-{language}-{level:02d}-{number:04d}"
    rng, wanted = random.Random(f"egosocial {name}"), rung(level)
    while (asked := _asked(rng, wanted, texts(language).words, number)) is None:
        pass
    story, question, answer = asked
    if isinstance(answer, str):
        boxes = tuple(story.rooms)
        options, place = arranged_at([option_words(box) for box in boxes], option_words(answer), number, name)
    else:
        first = max(0, min(wanted.beliefs + 1 - wanted.options, answer - rng.randrange(wanted.options)))
        options, place = tuple(str(count) for count in range(first, first + wanted.options)), answer - first
    ego = question.among[0] if question.among else question.chain[0]
    voices = {"third": Voice(language=language), "first": Voice(ego=ego, language=language)}
    tellings = tuple(
        Telling(
            person, story_prose(story, name, voice), question_prose(question, voice), options, place,
            prompt="world", rules="rules_told", hint="hint_ladder",
        )
        for person, voice in voices.items()
    )  # fmt: skip
    facets = {"level": str(level), "asked": question.kind}
    return Scene(id=name, cluster=name, tellings=tellings, facets=facets, language=language, ego=ego)


def _asked(
    rng: random.Random, wanted: Rung, words: Vocabulary, number: int
) -> tuple[Story, Question, str | int] | None:
    """A story, a question and its answer: a place, or a number of beliefs; None if the story does not serve.

    Every second place is the real one, numbers of right beliefs take turns, and wrong ones are a sixth or more.
    """
    acting = _Acting(rng, wanted, words)
    for _ in range(wanted.steps):
        acting.step()
    oracle, thing = Oracle(acting.story()), acting.things[0]
    if all(len(holdings(acting.events, one)) < 2 for one in acting.things):
        return None
    minds = tuple(rng.sample(acting.people, wanted.minds))

    def belief(*chain: str, of: str = thing) -> str:
        """People guess nothing about others beyond what they saw and heard, so that every belief is settled."""
        return oracle.belief(chain, of, presume=False) or ""

    if wanted.kind == "belief":
        held, moved = belief(minds[0]), len(holdings(acting.events, thing)) > 1
        asked = Question("belief", thing, minds[:1])
        return (acting.story(), asked, held) if moved and (held == belief()) == (number % 2 == 0) else None
    if wanted.kind == "right":
        counted = [belief(name, of=one) == belief(of=one) for name in minds for one in acting.things]
        serves = sum(counted) == 1 + number % (wanted.beliefs - 1)
    else:
        counted = [
            belief(*chain, of=one) != belief(*chain[1:], of=one)
            for chain in permutations(minds, ORDERS[wanted.kind])
            for one in acting.things
        ]
        serves = 6 * sum(counted) >= wanted.beliefs
    asked = Question(wanted.kind, thing, among=minds, things=tuple(acting.things))
    return (acting.story(), asked, sum(counted)) if serves else None


class _Acting:
    """A story while it is acted out, step by step; whatever anybody says follows from what they believe."""

    def __init__(self, rng: random.Random, wanted: Rung, words: Vocabulary) -> None:
        self.rng = rng
        self.people = rng.sample(words.people, wanted.people)
        self.things = rng.sample(words.things, wanted.things)
        self.boxes = rng.sample(words.containers, PLACES)
        self.room = rng.choice(words.rooms)
        self.inside: list[str] = []
        self.events: list[Event] = []
        self.real: dict[str, str] = {}
        self._held: dict[tuple[str, str], list[str]] = {}
        self._lies: set[tuple[str, str, str]] = set()
        first, *others = self.people
        self._do(Enter(first, self.room), *(Place(thing, rng.choice(self.boxes)) for thing in self.things))
        self._do(*(Enter(name, self.room) for name in others))

    def story(self) -> Story:
        return Story(tuple(self.events), dict.fromkeys(self.boxes, self.room))

    @property
    def outside(self) -> list[str]:
        return [name for name in self.people if name not in self.inside]

    def step(self) -> None:
        """Let one of the possible things happen; which kind is drawn first, then who does it."""
        kinds: dict[Callable[[str], bool], int] = {
            self._exit: 4, self._enter: 2, self._move: 5, self._tell: 8, self._lie: 5, self._send: 6, self._forget: 2,
        }  # fmt: skip
        possible, weights = list(kinds), list(accumulate(kinds.values()))
        while True:
            happens = self.rng.choices(possible, cum_weights=weights)[0]
            if happens(self.rng.choice(self.things)):
                return

    def _do(self, *events: Event) -> bool:
        for event in events:
            self._learn(event)
        self.events += events
        return True

    def _learn(self, event: Event) -> None:
        """What an event teaches each person by themselves; the oracle works out the rest when the story is done."""
        if isinstance(event, Exit):
            self.inside.remove(event.person)
        elif isinstance(event, Enter):
            self.inside.append(event.person)
            for thing, box in self.real.items():
                self._know([event.person], thing, box)
        elif isinstance(event, Place | Move):
            self.real[event.thing] = event.container
            self._know(self.inside, event.thing, event.container)
        elif isinstance(event, Tell):
            self._know([event.listener, *event.hearers], event.thing, event.container)
        elif isinstance(event, Send):
            self._know([event.messenger], event.thing, event.container)
        elif isinstance(event, Hear):
            self._know([event.person], event.thing, event.container)
        elif isinstance(event, Forget):
            past = self._held[event.person, event.thing]
            past.append(past[-2])

    def _know(self, names: Iterable[str], thing: str, box: str) -> None:
        for name in names:
            past = self._held.setdefault((name, thing), [])
            if past[-1:] != [box]:
                past.append(box)

    def believed(self, name: str, thing: str) -> str:
        """Where somebody believes that a thing is."""
        return self._held[name, thing][-1]

    def _drawn(self, names: list[str], count: int) -> list[str]:
        """Different people, or nobody if there are too few."""
        return self.rng.sample(names, count) if len(names) >= count else []

    def _exit(self, _: str) -> bool:
        who, last = self.rng.choice(self.inside), self.events[-1]
        if len(self.inside) < 2 or (isinstance(last, Enter) and last.person == who):
            return False
        return self._do(Exit(who, self.room))

    def _enter(self, _: str) -> bool:
        who = self._drawn(self.outside, 1)
        if not who or isinstance(self.events[-1], Exit):
            return False
        return self._do(Enter(who[0], self.room))

    def _move(self, thing: str) -> bool:
        who, last = self.rng.choice(self.inside), self.events[-1]
        box = self.rng.choice([box for box in self.boxes if box != self.real[thing]])
        if not self.outside or (isinstance(last, Move) and last.thing == thing):
            return False
        move, near = Move(who, thing, box), self.rng.choice(self.outside)
        beside: list[tuple[Event, ...]] = [(), (Hear(near, who, thing, box),), (Glimpse(near, who, box),)]
        more = self.rng.choices(beside, [6, 1, 1])[0]
        return self._do(move, *more)

    def _tell(self, thing: str) -> bool:
        people = self._drawn(self.outside, 2)
        if not people:
            return False
        teller, listener = people
        held = self.believed(teller, thing)
        if self.believed(listener, thing) == held or (teller, listener, thing) in self._lies:
            return False
        others = [name for name in self.outside if name not in people and self.believed(name, thing) != held]
        hearers = tuple(self._drawn(others, 1)) if self.rng.random() < 0.3 else ()
        return self._do(Tell(teller, listener, thing, held, hearers=hearers))

    def _lie(self, thing: str) -> bool:
        people = self._drawn(self.outside, 2)
        if not people:
            return False
        teller, listener = people
        box = self.rng.choice(self.boxes)
        if (
            box in (self.believed(teller, thing), self.believed(listener, thing))
            or (teller, listener, thing) in self._lies
        ):
            return False
        self._lies.add((teller, listener, thing))
        return self._do(Tell(teller, listener, thing, box, honest=False))

    def _send(self, thing: str) -> bool:
        people = self._drawn(self.outside, 3)
        if not people:
            return False
        sender, messenger, listener = people
        held = self.believed(sender, thing)
        if self.believed(listener, thing) == held:
            return False
        sent = Send(sender, messenger, listener, thing, held)
        arrives = Tell(messenger, listener, thing, held, source=sender)
        return self._do(sent, self.rng.choice((arrives, Lose(messenger, listener))))

    def _forget(self, thing: str) -> bool:
        who = self._drawn(self.outside, 1)
        moved = [event.person for event in self.events if isinstance(event, Move) and event.thing == thing]
        if not who or who[0] in moved or not has_one_news(Oracle(self.story()).timeline(who[0]), thing):
            return False
        return self._do(Forget(who[0], thing))


SEEN = "seen"
"""The tier of stories in which people learn by their own eyes; the others are `TIERS`."""


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


_LEVEL = "Difficulty(bystanders=1, extra_moves=0, other_things=0, remarks=1, hearsay=True, highest_order=4)"
"""Part of the seed of stories of the tier seen since version 5; another text would give other stories."""


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


def generated_scenes(
    seed: int,
    stories: int,
    tiers: Sequence[str] = (SEEN,),
    language: str = "en",
) -> Iterator[Scene]:
    """Generated stories of the tiers from a seed; the same seed gives the same scenes, for any number of stories."""
    for tier in tiers:
        yield from _seen(seed, stories, language) if tier == SEEN else _told(seed, stories, tier, language)


def _seen(seed: int, stories: int, language: str) -> Iterator[Scene]:
    """Stories in which people learn by their own eyes and by true messages, story types in turn."""
    for number in range(stories):
        yield from _seen_story(seed, number, language)


@lru_cache(maxsize=256)
def _seen_story(seed: int, number: int, language: str) -> tuple[Scene, ...]:
    """The questions of one story; cached, because a run reads its items several times."""
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


@lru_cache(maxsize=16)
def _told(seed: int, stories: int, tier: str, language: str) -> tuple[Scene, ...]:
    """Stories in which people learn by word of mouth, kinds of evidence in turn.

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
    options = tuple(map(option_words, shown))
    rules = "rules_seen" if facets["tier"] == SEEN else "rules_told"

    def told(telling: str, voice: Voice, hint: str) -> Telling:
        return Telling(
            telling,
            story_prose(story, cluster, voice),
            question_prose(question, voice),
            options,
            position,
            prompt="world",
            rules=rules,
            hint=hint,
        )

    return Scene(
        id=name,
        cluster=cluster,
        tellings=(
            told("third", Voice(language=language), "hint_third"),
            told("first", Voice(ego, language), "hint_whole"),
        ),
        facets={**facets_of(story, question, right), **facets},
        language=language,
        ego=ego,
    )
