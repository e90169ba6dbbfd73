"""Builds new items from posts and their comments, as section 3.3 of the paper describes."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from sociometer.core.command import CommandContext
from sociometer.core.conversation import Choice, Free, Message, Sampling, Schema, user
from sociometer.core.errors import DataError, UsageError, unknown
from sociometer.core.instrument import Result
from sociometer.core.lazy import lazy
from sociometer.core.measure import Figure, Summary, Table
from sociometer.core.session import Session
from sociometer.core.settings import Settings
from sociometer.core.sheets import read_rows, write_sheet
from sociometer.core.source import Source
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.sesi.items import ABILITIES, COLUMNS, Question
from sociometer.reading import ask_choice, read_json, read_lines, render_options
from sociometer.statistics.formatting import p_phrase, stand_in_notes
from sociometer.statistics.measures import grouped_measures

DEMO = Path(__file__).parent / "data" / "posts.jsonl"
TOP = 5
"""The number of comments that make the right answer."""

_GONE = {"[removed]", "[deleted]", ""}
_LINK = re.compile(r"https?://|www\.", re.IGNORECASE)
_UPDATE = re.compile(r"\b(?:update|edit)\s*(?:#?\d+|:|-|\]|\))", re.IGNORECASE)
_TLDR = re.compile(r"\btl\s*[;:,/]?\s*dr\b[\s:;,.\-–—*]*", re.IGNORECASE)


class Comment(Struct, frozen=True):
    """One comment with the readers' votes."""

    id: str
    text: str
    votes: int


class Post(Item, frozen=True, kw_only=True):
    """One post with its top comments, best first."""

    title: str
    body: str
    tldr: str = ""
    link: str = ""
    comments: tuple[Comment, ...] = ()


class Rejection(Struct, frozen=True):
    """A post that gives no item, and why."""

    post: str
    reason: str


class RawPost(Struct, frozen=True):
    """A post in a dump, with all comments found for it."""

    id: str
    title: str
    body: str
    link: str
    is_text: bool
    comments: tuple[Comment, ...]


def demo_posts(source: Source) -> list[Post]:
    """The bundled posts that pass the filters."""
    return filter_posts(read_posts([DEMO]))[0]


def read_posts(paths: Iterable[Path]) -> list[RawPost]:
    """Posts from JSON-lines files; comments are on separate lines or inside their post."""
    heads: dict[str, dict[str, Any]] = {}
    comments: dict[str, dict[str, Comment]] = {}
    for path in paths:
        for number, record in read_lines(path, dict[str, Any]):
            if "link_id" in record:
                _take_comment(record, str(record["link_id"]).removeprefix("t3_"), comments)
            else:
                if not record.get("id") or "title" not in record:
                    raise DataError("neither a post (id, title, selftext) nor a comment (link_id, body)", path, number)
                heads.setdefault(str(record["id"]), record)
                for inner in _inner_comments(record, path, number):
                    _take_comment(inner, str(record["id"]), comments)
    return [_raw(head, comments.get(name, {})) for name, head in heads.items()]


def filter_posts(found: Iterable[RawPost], least_comments: int = TOP) -> tuple[list[Post], list[Rejection]]:
    """The posts that pass every filter, with their five top comments, and the others with the reason."""
    posts, rejected, seen = [], [], set()
    for raw in found:
        reason = _reason(raw, least_comments)
        text = " ".join(raw.body.lower().split())
        if not reason and text in seen:
            reason = "the same text was posted before"
        seen.add(text)
        if reason:
            rejected.append(Rejection(raw.id, reason))
        else:
            body, tldr = split_tldr(raw.body)
            best = sorted(raw.comments, key=lambda comment: (-comment.votes, comment.id))[:TOP]
            posts.append(Post(id=raw.id, title=raw.title, body=body, tldr=tldr, link=raw.link, comments=tuple(best)))
    return posts, rejected


def split_tldr(body: str) -> tuple[str, str]:
    """The post without its short version, and the short version (empty if there is none)."""
    match = _TLDR.search(body)
    if match is None:
        return body.strip(), ""
    before, after = body[: match.start()].strip(" *_\n\t"), body[match.end() :].strip(" *_\n\t")
    if before:
        return before, after
    first, _, rest = after.partition("\n")
    return (rest.strip() or after), first.strip()


def _reason(raw: RawPost, least_comments: int) -> str:
    if raw.body.strip() in _GONE:
        return "the text was removed"
    if not raw.is_text or _LINK.search(raw.body):
        return "refers to an external link"
    updates = len(_UPDATE.findall(f"{raw.title}\n{raw.body}"))
    if updates > 1:
        return f"several updates ({updates})"
    if len(raw.comments) < least_comments:
        return f"too few comments ({len(raw.comments)} of {least_comments})"
    return ""


def _inner_comments(record: dict[str, Any], path: Path, number: int) -> list[dict[str, Any]]:
    found = record.get("comments") or []
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise DataError("'comments' must be a list of JSON objects", path, number)
    return found


def _take_comment(record: dict[str, Any], post: str, comments: dict[str, dict[str, Comment]]) -> None:
    """Keeps a top-level comment by a person that was not removed."""
    text = str(record.get("body") or "").strip()
    parent = str(record.get("parent_id") or f"t3_{post}")
    if text in _GONE or record.get("stickied") or record.get("author") == "AutoModerator":
        return
    if not parent.startswith("t3_"):
        return
    votes = record.get("score")
    name = str(record.get("id") or f"{post}-{len(comments.get(post, {})) + 1}")
    entry = Comment(name, text, votes if isinstance(votes, int) else 0)
    comments.setdefault(post, {})[entry.id] = entry


def _raw(head: dict[str, Any], comments: dict[str, Comment]) -> RawPost:
    name = str(head["id"])
    return RawPost(
        id=name,
        title=str(head.get("title") or "").strip(),
        body=str(head.get("selftext") or "").strip(),
        link=str(head.get("permalink") or ""),
        is_text=head.get("is_self", True) is not False,
        comments=tuple(comments.values()),
    )


REVERSED = 2
_SAMPLING = Sampling(temperature=0, top_p=1, max_tokens=400, seed=42)
ABILITY_MEANINGS = {
    "empathy": "Empathy: telling what others think, feel and intend, and why",
    "social-cognition": "Social cognition: seeing through a situation, its rules, and what is usual or awkward in it",
    "self-presentation": "Self-presentation: putting across what one means",
    "influence": "Influence: bringing about the outcome one wishes for with others",
    "concern": "Concern: noticing what others need and acting on it",
}
ABILITY_QUESTIONS = {
    "empathy": "What may the people in it be feeling or thinking, and for what reason?",
    "social-cognition": "Is what happens in it usual and acceptable, and by which unwritten rule?",
    "self-presentation": "How could the person put across what they mean?",
    "influence": "How could the person bring about what they wish for?",
    "concern": "What does the one in need of help require, and how can it be given?",
}
_TEXT: dict[str, Any] = {"type": "string"}
_TOLD: dict[str, Any] = {
    "type": "object",
    "properties": {"situation": _TEXT, "question": _TEXT},
    "required": ["situation", "question"],
}
_QUOTED = re.compile(r"[\"“][^\"”]*[\"”]|(?<!\w)['‘][^'’]*['’](?!\w)")
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself)\b")
_QUALITIES = "the|a|my|your|final|correct|right|best|common|shared|wrong|switched|reversed|short|one|first|second|third"
_NAMES = "answer|response|reply|option|comment|statement|sentence|situation|question|summary|advice|explanation"
_HEADING = re.compile(
    rf"^(?:[#>*_\-\s]|\d+[.)]\s)*(?:(?:{_QUALITIES})\s+)*(?:{_NAMES})(?:\s+(?:\d+|[A-D]))?\s*[*_]*\s*[:\n][*_\s]*",
    re.IGNORECASE,
)
_BOLD_LABEL = re.compile(r"^\s*(?:[*_]{2}|#+\s)[^*_#:\n]{1,40}(?::\s*[*_]{0,2}|[*_]{2}\s*:)\s*")
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)]|[A-D][.)])\s+")
_PREAMBLE = re.compile(r"^\s*(?:sure|certainly|of course|here (?:is|are))\b[^:\n]{0,80}:\s*", re.IGNORECASE)


class Candidate(Struct, frozen=True):
    """A wrong answer; `kind` is "reversed" or "switched:" and the ability whose question it answers."""

    text: str
    kind: str
    entailment: float | None = None


class Draft(Struct, frozen=True):
    """Everything the builder wrote about a post; `problem` says at which step its reply could not be read."""

    situation: str = ""
    question: str = ""
    ability: str = ""
    right: str = ""
    candidates: tuple[Candidate, ...] = ()
    problem: str = ""


class _Told(Struct, frozen=True):
    situation: str
    question: str


class _Answers(Struct, frozen=True):
    answers: tuple[str, ...]


class _Probability(Struct, frozen=True):
    probability: float


async def draft(post: Post, session: Session) -> Draft:
    """Takes the builder through the steps; the first unreadable reply ends it."""
    about = {"title": post.title, "tldr": post.tldr or "(none)", "body": post.body}
    made = await _told(session, "situation", **about)
    if made is None:
        return Draft(problem="situation and question unreadable")
    if first_person(f"{made.situation} {made.question}"):
        made = await _told(session, "third-person", situation=made.situation, question=made.question) or made
    if first_person(f"{made.situation} {made.question}"):
        return msgspec.structs.replace(made, problem="told in the first person")
    ability = await _ability(made, session)
    if ability is None:
        return msgspec.structs.replace(made, problem="ability unreadable")
    right = await _right(post, made, session)
    made = msgspec.structs.replace(made, ability=ability, right=right)
    if not right:
        return msgspec.structs.replace(made, problem="right answer empty")
    candidates = await _switched(made, session) + await _reversed(made, session)
    if len(candidates) < 3:
        return msgspec.structs.replace(made, candidates=tuple(candidates), problem="fewer than three wrong answers")
    known = [await _entailed(made, candidate, session) for candidate in candidates]
    return msgspec.structs.replace(made, candidates=tuple(known))


def _ask(session: Session, step: str, **values: str) -> list[Message]:
    return [user(session.prompts.render(f"build/{step}", "en", **values))]


async def _told(session: Session, step: str, **about: str) -> Draft | None:
    """A situation and a question as the builder writes them; None if its reply is unreadable."""
    schema = Schema(_TOLD, name="situation")
    reply = await session.ask("builder", _ask(session, step, **about), schema, sampling=_SAMPLING)
    told = read_json(reply.text, _Told).value
    if told is None or not told.situation.strip() or not told.question.strip():
        return None
    return Draft(one_line(told.situation), one_line(told.question))


async def _ability(made: Draft, session: Session) -> str | None:
    def messages(choice: Choice) -> list[Message]:
        options = render_options(choice)
        return _ask(session, "ability", situation=made.situation, question=made.question, options=options)

    meanings = [ABILITY_MEANINGS[ability] for ability in ABILITIES]
    vote = await ask_choice(session, messages, meanings, role="builder", sampling=_SAMPLING)
    return None if vote.picked is None else ABILITIES[vote.picked]


async def _right(post: Post, made: Draft, session: Session) -> str:
    comments = "\n\n".join(f"{number}. {comment.text}" for number, comment in enumerate(post.comments, 1))
    messages = _ask(session, "right", situation=made.situation, question=made.question, comments=comments)
    reply = await session.ask("builder", messages, Free(hint="one sentence"), sampling=_SAMPLING)
    return one_line(reply.text)


async def _switched(made: Draft, session: Session) -> list[Candidate]:
    """The answer to each other ability's question about the same situation."""
    candidates = []
    for ability, question in ABILITY_QUESTIONS.items():
        if ability == made.ability:
            continue
        messages = _ask(
            session, "switched", situation=made.situation, question=question, words=str(len(made.right.split()))
        )
        reply = await session.ask("builder", messages, Free(hint="one sentence"), sampling=_SAMPLING)
        if text := one_line(reply.text):
            candidates.append(Candidate(text, f"switched:{ability}"))
    return candidates


async def _reversed(made: Draft, session: Session) -> list[Candidate]:
    schema = {
        "type": "object",
        "properties": {"answers": {"type": "array", "items": _TEXT, "minItems": REVERSED, "maxItems": REVERSED}},
        "required": ["answers"],
    }
    messages = _ask(
        session,
        "reversed",
        situation=made.situation,
        question=made.question,
        right=made.right,
        count=str(REVERSED),
        words=str(len(made.right.split())),
    )
    reply = await session.ask("builder", messages, Schema(schema, name="answers"), sampling=_SAMPLING)
    answers = read_json(reply.text, _Answers).value
    return [Candidate(one_line(text), "reversed") for text in (answers.answers if answers else ()) if one_line(text)]


async def _entailed(made: Draft, candidate: Candidate, session: Session) -> Candidate:
    """The candidate with the probability that the right answer entails it; None if the reply is unreadable."""
    schema = {
        "type": "object",
        "properties": {"probability": {"type": "number", "minimum": 0, "maximum": 1}},
        "required": ["probability"],
    }
    about = {"situation": made.situation, "question": made.question}
    messages = _ask(session, "entailment", right=made.right, candidate=candidate.text, **about)
    reply = await session.ask("builder", messages, Schema(schema, name="entailment"), sampling=_SAMPLING)
    value = read_json(reply.text, _Probability).value
    if value is None or not 0 <= value.probability <= 1:
        return candidate
    return msgspec.structs.replace(candidate, entailment=value.probability)


def one_line(text: str) -> str:
    """A reply as one line, without headings such as "**Answer:**", list marks, emphasis and outer quotation marks."""
    before = None
    while text != before:
        before = text
        for pattern in (_PREAMBLE, _HEADING, _BOLD_LABEL, _LIST_MARK):
            text = pattern.sub("", text, count=1)
    return " ".join(text.replace("**", "").replace("__", "").split()).strip('"“”* ')


def first_person(text: str) -> bool:
    """Whether somebody tells it as "I", outside quotation marks."""
    return bool(_FIRST_PERSON.search(_QUOTED.sub(" ", text)))


def score(post: Post, outcome: Draft) -> Score:
    """Whether the builder's replies could all be read."""
    facets = {"ability": outcome.ability} if outcome.ability else {}
    return Score(values={"complete": float(not outcome.problem)}, facets=facets, unreadable=int(bool(outcome.problem)))


def summarise(run: RunView[Post, Draft]) -> Summary:
    """The number of posts that became drafts, and the steps at which the others ended."""
    problems = Counter(outcome.problem or "complete" for _, outcome, _ in run.scored())
    table = Table("drafts", "Drafts", ("ending", "posts"), tuple(sorted(problems.items())))
    return Summary(grouped_measures(run, "complete"), (table,))


stats = lazy("scipy.stats")


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


def provenance_lines(built: Sequence[Built]) -> str:
    """One JSON object per item."""
    return "".join(msgspec.json.encode(entry.provenance).decode() + "\n" for entry in built)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LINK_LEFT = re.compile(r"https?://\S+|www\.\S+|\b[ur]/\w+|@\w{3,}")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
_TELLER = re.compile(r"\b(?:I|my|me)\b")
_PLAIN_WORD = re.compile(r"[a-z']+")
_NAME_LEFT = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}\b")
NOT_NAMES = _words(
    """
    January February March April May June July August September October November December Monday Tuesday
    Wednesday Thursday Friday Saturday Sunday Christmas Easter Thanksgiving Reddit English Spanish French
    German
    """
)
_ROUNDING = 1e-9
"""A spread below this share of the values is only rounding."""
DIMENSIONS = ("valence", "arousal", "dominance")
SMALL = 0.1
"""The paper's bound on |Cohen's d|."""


class Flag(Struct, frozen=True):
    """Something to check in one item."""

    item: str
    what: str


def cohens_d(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The difference of two means over their pooled standard deviation; None without variation or enough values."""
    one, two = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if one.size < 2 or two.size < 2:
        return None
    pooled = sqrt(((one.size - 1) * one.var(ddof=1) + (two.size - 1) * two.var(ddof=1)) / (one.size + two.size - 2))
    size = float(np.abs(np.concatenate((one, two))).max())
    return float((one.mean() - two.mean()) / pooled) if pooled > _ROUNDING * size else None


def read_lexicon(path: Path) -> dict[str, tuple[float, float, float]]:
    """A lexicon in the NRC format: word, valence, arousal, dominance, tab-separated; a heading line is skipped."""
    words: dict[str, tuple[float, float, float]] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise DataError(f"the lexicon cannot be read ({error.strerror})", path) from None
    for number, line in enumerate(lines, 1):
        parts = line.split("\t")
        if not line.strip() or (number == 1 and len(parts) > 1 and not _is_number(parts[1])):
            continue
        if len(parts) < 4 or not all(_is_number(part) for part in parts[1:4]):
            raise DataError("a line must be: word, valence, arousal, dominance, separated by tabs", path, number)
        words[parts[0].lower()] = (float(parts[1]), float(parts[2]), float(parts[3]))
    return words


def answer_lengths(items: Sequence[Question]) -> tuple[list[int], list[int]]:
    """The words of right and of wrong answers."""
    right = [len(item.options[item.answer].split()) for item in items]
    wrong = [len(text.split()) for item in items for place, text in enumerate(item.options) if place != item.answer]
    return right, wrong


def length_difference(right: Sequence[float], wrong: Sequence[float]) -> tuple[float | None, float]:
    """Cohen's d of two sets of lengths, and p of the two-sample Kolmogorov-Smirnov test."""
    return cohens_d(right, wrong), float(stats.ks_2samp(right, wrong).pvalue)


def length_table(items: Sequence[Question]) -> Table:
    """Words of right and wrong answers: means, Cohen's d, and the two-sample Kolmogorov-Smirnov test."""
    right, wrong = answer_lengths(items)
    rows: tuple[tuple[str | float | int | None, ...], ...] = ()
    note = ""
    if right:
        d, p_value = length_difference(right, wrong)
        rows = (
            ("right", len(right), float(np.mean(right)), float(np.std(right))),
            ("wrong", len(wrong), float(np.mean(wrong)), float(np.std(wrong))),
        )
        note = f"Cohen's d = {'undefined' if d is None else format(d, '.2f')}; same distribution: {p_phrase(p_value)}."
    return Table("lengths", "Words of an answer", ("answers", "n", "mean", "deviation"), rows, note)


def tone_table(items: Sequence[Question], lexicon: dict[str, tuple[float, float, float]]) -> Table:
    """Valence, arousal and dominance of right answers against switched and reversed ones, |d| < .1 in the paper."""
    groups: dict[str, list[tuple[float, float, float]]] = {"right": [], "switched": [], "reversed": []}
    for item in items:
        for kind, text in zip(item.kinds, item.options, strict=True):
            if (tone := _tone(text, lexicon)) is not None:
                groups[kind.partition(":")[0]].append(tone)
    rows = []
    for kind in ("switched", "reversed"):
        for place, name in enumerate(DIMENSIONS):
            d = cohens_d([tone[place] for tone in groups["right"]], [tone[place] for tone in groups[kind]])
            rows.append((kind, name, d, None if d is None else abs(d) < SMALL, len(groups[kind])))
    columns = ("answers", "dimension", "Cohen's d against right", f"|d| < {SMALL}", "n")
    return Table("tone", "Tone of the answers", columns, tuple(rows))


def flags(items: Sequence[Question]) -> list[Flag]:
    """Situations that are repeated, not three sentences long or in the first person; links, names, equal options."""
    found: list[Flag] = []
    shingles: list[tuple[str, frozenset[str]]] = []
    for item in items:
        texts = (item.situation, item.question, *item.options)
        for text in texts:
            found += [Flag(item.id, f"link or handle left in: {link}") for link in _LINK_LEFT.findall(text)]
            names = sorted({name for name in _NAME_LEFT.findall(text) if name not in NOT_NAMES})
            found += [Flag(item.id, f"name left in: {name}") for name in names]
        if (count := len(_SENTENCE_END.findall(item.situation))) != 3:
            found.append(Flag(item.id, f"the situation has {count} sentences, not three"))
        if _TELLER.search(item.situation) or _TELLER.search(item.question):
            found.append(Flag(item.id, "told in the first person"))
        if len({text.lower() for text in item.options}) < 4:
            found.append(Flag(item.id, "two options are the same"))
        own = _shingles(item.situation)
        alike = (other for other, theirs in shingles if own and len(own & theirs) / len(own | theirs) > 0.6)
        if (first := next(alike, None)) is not None:
            found.append(Flag(item.id, f"situation nearly the same as that of {first}"))
        shingles.append((item.id, own))
    return list(dict.fromkeys(found))


def _shingles(text: str) -> frozenset[str]:
    words = _PLAIN_WORD.findall(text.lower())
    return frozenset(" ".join(words[at : at + 3]) for at in range(max(1, len(words) - 2)))


def _tone(text: str, lexicon: dict[str, tuple[float, float, float]]) -> tuple[float, float, float] | None:
    known = [lexicon[word] for word in _PLAIN_WORD.findall(text.lower()) if word in lexicon]
    if not known:
        return None
    valence, arousal, dominance = (sum(column) / len(known) for column in zip(*known, strict=True))
    return valence, arousal, dominance


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_RELATIONS = {
    "romantic": "husband wife boyfriend girlfriend partner spouse fiancé fiancée fiance fiancee ex date crush",
    "family": """mother mom mum father dad parents parent son daughter child children kid kids brother sister siblings
        sibling cousin aunt uncle grandmother grandfather niece nephew family in-laws stepmother stepfather baby""",
    "friend": "friend friends buddy bestie",
    "work": "coworker coworkers colleague colleagues boss manager employee client customer foreman director",
    "school": "teacher student students classmate professor tutor pupil coach",
    "neighbourhood": "neighbour neighbor neighbours neighbors roommate flatmate housemate landlord tenant",
}
_WORDS = {word: relation for relation, words in _RELATIONS.items() for word in words.split()}
_WORD = re.compile(r"[a-zà-ž]+(?:-[a-zà-ž]+)*", re.IGNORECASE)
_NAME = re.compile(r"(?<=[a-zà-ž,;:] )(?:(?:Mr|Mrs|Ms|Dr|Sr|Miss) )?([A-ZÀ-Ž][a-zà-ž]+)")


def characters(item: Question) -> int:
    """The number of active characters in the situation, estimated: the person, each relation and each name."""
    words = [word.lower() for word in _WORD.findall(item.situation)]
    named = {name for name in _NAME.findall(item.situation) if name not in NOT_NAMES}
    return 1 + len({word.removesuffix("s") for word in words if word in _WORDS and word != "family"} | named)


def relation(item: Question) -> str:
    """The kind of relationship whose words the situation uses most (the first of them on a tie)."""
    words = (word.lower() for word in _WORD.findall(item.situation))
    found = Counter(_WORDS[word] for word in words if word in _WORDS)
    return found.most_common(1)[0][0] if found else "other"


def set_tables(items: Sequence[Question]) -> list[Table]:
    """Fig. 5 a to e as tables."""
    lengths = Counter(_bin(len(item.situation.split()), 10) for item in items)
    answers = Counter(
        (_bin(len(text.split()), 5), "right" if place == item.answer else "wrong")
        for item in items
        for place, text in enumerate(item.options)
    )
    people = Counter(characters(item) for item in items)
    abilities = Counter(str(item.ability) for item in items)
    relations = Counter(relation(item) for item in items)
    mean = sum(len(item.situation.split()) for item in items) / len(items) if items else 0.0
    answer_mean = sum(len(text.split()) for item in items for text in item.options) / (4 * len(items)) if items else 0.0
    return [
        Table("situations", "Words of a situation", ("words", "items"), _sorted(lengths), f"Mean {mean:.1f}."),
        Table(
            "answers",
            "Words of an answer",
            ("words", "answers", "share"),
            tuple(
                (start, kind, answers[start, kind] / (len(items) * (1 if kind == "right" else 3)))
                for start in sorted({start for start, _ in answers}, key=_start)
                for kind in ("right", "wrong")
            ),
            f"Mean {answer_mean:.1f}; shares within right and within wrong answers.",
        ),
        Table("characters", "Active characters", ("characters", "items"), tuple(sorted(people.items()))),
        Table("abilities", "Abilities", ("ability", "items"), tuple((name, abilities[name]) for name in ABILITIES)),
        Table("relations", "Relationships", ("relationship", "items"), tuple(relations.most_common())),
    ]


def set_figures(items: Sequence[Question]) -> list[Figure]:
    """The same as bar charts."""
    return [Figure(table.name, table.title, table.note, chart=_bars(table)) for table in set_tables(items)]


def _bars(table: Table) -> dict[str, Any]:
    first, second = table.columns[0], table.columns[-1]
    values = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    order = list(dict.fromkeys(str(row[0]) for row in table.rows))
    encoding: dict[str, Any] = {
        "x": {"field": first, "type": "nominal", "sort": order, "axis": {"labelAngle": 0}},
        "y": {"field": second, "type": "quantitative"},
    }
    if len(table.columns) == 3:
        encoding |= {"xOffset": {"field": table.columns[1]}, "color": {"field": table.columns[1], "type": "nominal"}}
    return {"data": {"values": values}, "width": "container", "height": 220, "mark": "bar", "encoding": encoding}


def _bin(count: int, width: int) -> str:
    low = count // width * width
    return f"{low}-{low + width - 1}"


def _start(label: str) -> int:
    return int(label.partition("-")[0])


def _sorted(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda entry: _start(entry[0])))


DECISIONS = ("keep", "wrong ability", "no right answer", "several right answers")
REVIEW_COLUMNS = ("id", "ability", "situation", "question", "A", "B", "C", "D", "flags", "choice", "decision", "note")
OTHER_KEY = "the reviewer chose another option"


class Review(Struct, frozen=True):
    """A reviewer's decision on an item, and the option that they chose without seeing the key (empty: none)."""

    decision: str
    choice: str = ""


def review_sheet(items: Sequence[Question], flags: Sequence[Flag]) -> str:
    """A CSV with one item per line and no key; the experts fill in `choice` and `decision` (empty means keep)."""
    rows = []
    for item in items:
        raised = "; ".join(flag.what for flag in flags if flag.item == item.id)
        rows.append((item.id, item.ability, item.situation, item.question, *item.options, raised, "", "", ""))
    return write_sheet(REVIEW_COLUMNS, rows, guard_formulas=True)


def read_decisions(path: Path) -> dict[str, Review]:
    """The experts' decisions by item; an unknown word raises an error with the line."""
    decisions = {}
    for line, row in read_rows(path, ("id", "decision"), optional=("choice",), guarded=True):
        decision = row["decision"].strip().lower() or "keep"
        if decision not in DECISIONS:
            raise DataError(str(unknown("decision", decision, DECISIONS)), path, line)
        choice = row.get("choice", "").strip().upper()
        if choice and choice not in "ABCD":
            raise DataError(str(unknown("choice", choice, ("A", "B", "C", "D"))), path, line)
        decisions[row["id"]] = Review(decision, choice)
    return decisions


def agreement(items: Sequence[Question], decisions: dict[str, Review]) -> tuple[int, int]:
    """How many items reviewers answered without the key, and how many of these answers match the key."""
    answered = [(item, decisions[item.id].choice) for item in items if item.id in decisions]
    answered = [(item, choice) for item, choice in answered if choice]
    return len(answered), sum("ABCD".index(choice) == item.answer for item, choice in answered)


def apply_decisions(
    items: Sequence[Question], decisions: dict[str, Review], path: Path
) -> tuple[list[Question], list[Rejection]]:
    """The items to keep, and those that experts removed or answered differently; an unknown item raises an error."""
    known = {item.id for item in items}
    strangers = sorted(set(decisions) - known)
    if strangers:
        raise DataError(f"decides on items that were not built: {', '.join(strangers[:5])}", path)
    why = {item.id: _why_removed(item, decisions.get(item.id, Review("keep"))) for item in items}
    kept = [item for item in items if not why[item.id]]
    return kept, [Rejection(name, f"expert review: {reason}") for name, reason in why.items() if reason]


def _why_removed(item: Question, review: Review) -> str:
    if review.decision != "keep":
        return review.decision
    return OTHER_KEY if review.choice and "ABCD".index(review.choice) != item.answer else ""


def build(context: CommandContext, options: Settings) -> Result:
    """Builds items from posts: every reply is journaled, so running it again asks nothing and writes the same."""
    out = Path(options.text("to"))
    found, rejected = filter_posts(_raw_posts(options), options.whole("min-comments"))
    if not found and not rejected:
        raise UsageError("the files contain no posts; give JSON lines as in public dumps.")
    if not found:
        reasons = "; ".join(sorted({entry.reason for entry in rejected}))
        raise UsageError(f"no post passes the filters ({len(rejected)} were rejected): {reasons}.")
    limited = found[: options.whole("limit")] if options.text("limit") else found
    view = context.play("construction", items=limited).view("construction")
    built, dropped = assemble(
        [(post, draft) for post, draft, _ in view.scored()],
        builder=view.roles.get("builder", ""),
        prompts=context.source().prompts.digest,
        seed=context.seed,
    )
    rejected += dropped
    notes = [
        f"{count} posts have no draft: {kind}; run the same command to try them again"
        for kind, count in view.failures().items()
    ]
    if len(limited) < len(found):
        notes.append(f"{len(found) - len(limited)} more posts pass the filters; --limit {len(limited)} leaves them out")
    return _write(context, options, out, built, rejected, [*notes, *stand_in_notes([view])])


def _write(
    context: CommandContext,
    options: Settings,
    out: Path,
    built: Sequence[Built],
    rejected: list[Rejection],
    notes: list[str],
) -> Result:
    items = [entry.item for entry in built]
    flagged = flags(items)
    sheet = review_sheet(items, flagged)
    if options.text("review"):
        path = Path(options.text("review"))
        decisions = read_decisions(path)
        answered, agreed = agreement(items, decisions)
        if answered:
            notes.append(f"without the key, reviewers chose the right option of {agreed} of {answered} items.")
        items, removed = apply_decisions(items, decisions, path)
        rejected += removed
        kept = {item.id for item in items}
        built = [entry for entry in built if entry.item.id in kept]
        flagged = [flag for flag in flagged if flag.item in kept]
    tables = [
        Table("rejected", "Posts and items rejected", ("post", "reason"), tuple((r.post, r.reason) for r in rejected)),
        length_table(items),
        Table("flags", "Items to check", ("item", "what"), tuple((flag.item, flag.what) for flag in flagged)),
    ]
    if options.text("lexicon"):
        tables.append(tone_table(items, read_lexicon(Path(options.text("lexicon")))))
    target = out / "review.csv"
    wrote = [
        context.write(out / "sesi.csv", official_csv(items)),
        context.write(out / "provenance.jsonl", provenance_lines(built)),
        context.write(out / "rejected.csv", _csv(tables[0])),
        context.write(out / "checks.csv", "".join(_csv(table) + "\n" for table in tables[1:])),
    ]
    if not options.text("review"):
        if target.exists() and target.read_bytes() != sheet.encode():
            notes.append(f"{target} was edited and not overwritten; apply its decisions with --review {target}.")
        else:
            wrote.append(context.write(target, sheet))
    notes.append(f"items: {len(items)}; play them with: sociometer run sesi --data {out} --model MODEL")
    return Result(tuple(tables), tuple(notes), tuple(set_figures(items)), tuple(wrote))


def _raw_posts(options: Settings) -> list[RawPost]:
    names = options.texts("posts")
    if not names:
        raise UsageError("build needs posts: --posts FILE (JSON lines), or --posts demo.")
    return read_posts([DEMO if name == "demo" else Path(name) for name in names])


def _csv(table: Table) -> str:
    return write_sheet(table.columns, table.rows, guard_formulas=True)
