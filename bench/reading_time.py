"""Times every function that reads text from outside on 1 MB of each kind of absurd text; exits 1 above a second.

Run: python bench/reading_time.py [--only NAME] [--near-misses 40] [--size 1000000] [--limit 1.0] [--all]
Kinds are digits, brackets, quotes and so on, repeated; near misses are made from the regular expressions of the modules
that a reader uses (see near_misses.py). A reader that looks at a part of the text only gets near misses of that length,
since the beginning of a longer one would be cut off. Seconds are those of the processor, so a busy machine does not
count.
"""

import argparse
import importlib
import io
import os
import platform
import re
import signal
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from near_misses import near_misses
from sociometer.core.errors import SociometerError
from sociometer.instruments.egosocial.games.blackjack.match import read as read_blackjack
from sociometer.instruments.egosocial.games.blackjack.statement import read_statement
from sociometer.instruments.egosocial.games.holdem.match import read_action
from sociometer.instruments.egosocial.games.numbers.match import read_guess
from sociometer.instruments.egosocial.tombench.release import read_file
from sociometer.instruments.egosocial.tomi import parse_question, parse_sentence, read_questions
from sociometer.instruments.sage.dialogue import _HEADING
from sociometer.instruments.sage.items import Profile, bundled, from_profile
from sociometer.instruments.sage.person.authors import read_feeling, read_words
from sociometer.instruments.sage.person.emotion import find_leak, says_farewell
from sociometer.instruments.seceu.items import _ENGLISH_HEAD, _blocks, _english, _numbers, read_paragraphs
from sociometer.instruments.sesi.build.checks import flags
from sociometer.instruments.sesi.build.posts import RawPost, filter_posts, split_tldr
from sociometer.instruments.sesi.items import Question
from sociometer.instruments.socialeval.abilities import canonical
from sociometer.instruments.socialeval.items import tree_from
from sociometer.instruments.socialeval.worldtree import is_utterance
from sociometer.models.failures import refused, shortened, without_secrets
from sociometer.models.finish import split_reasoning
from sociometer.reading import read_allocation, read_choice, read_items, read_json
from sociometer.reading.quotation import quote
from sociometer.reading.text import plain, squeeze
from sociometer.reporting.page import as_data_block
from sociometer.reporting.terminal import harmless

OPTIONS = ("Surprised", "Joyful", "Puzzled", "Proud")
EMOTIONS = ("惊讶", "高兴", "难过", "骄傲")
ANSWERS = ("He wants the red cup.", "She will wait for him.", "They are going home.", "Nobody knows where it is.")
LABELS = ("A", "B", "C", "D")
KINDS = {
    "digits": "1234567890",
    "ones": "1",
    "letters": "a",
    "capitals": "A",
    "letters on lines": "A\n",
    "letters and blank lines": "A\n\n",
    "answer lines": "Answer: A\n",
    "options on lines": "A. He wants the red cup.\n",
    "pairs on lines": "joy: 3\n",
    "sentences that choose": "I would choose B. ",
    "words": "the cat and the dog ",
    "braces": "{",
    "brackets": "[",
    "open and closed": "[]",
    "nested JSON": '{"a":[',
    "JSON objects": '{"a": 1} ',
    "unclosed object": '{"a": 1, "b": [1, 2, 3], ',
    "parentheses": "(",
    "dashes": "-",
    "letters and dashes": "a-",
    "letters and double dashes": "a--",
    "emphasis": "*",
    "bold": "**A** ",
    "backticks": "`",
    "fences": "```",
    "fences with a word": "```json\n",
    "quotes": '"',
    "quotes and braces": '{"',
    "escaped quotes": '{\\"',
    "curly quotes": "“",
    "apostrophes": "'",
    "spaces": " ",
    "newlines": "\n",
    "spaces and newlines": " \n",
    "tabs": "\t",
    "commas": ",",
    "commas and spaces": ", ",
    "full stops": ".",
    "underscores": "_",
    "backslashes": "\\",
    "slashes": "1/",
    "boxes": "\\boxed{",
    "thoughts": "<think>",
    "closed thoughts": "<think></think>",
    "answer tags": "<answer>",
    "Chinese": "我觉得他很惊讶",
    "Chinese numbers": "三分",
    "Chinese marks": "，。",
    "full width": "ＡＢＣ１２３",
    "circled digits": "①②③",
    "ligature that grows": "ﷺ",
    "combining marks": "a\u0315\u0300\u0301",
    "marks out of order": "\u0315\u0300",
    "private use": "\ue100\ue200",
    "control characters": "\x07",
    "emoji": "😀",
    "option texts": ANSWERS[0] + " ",
    "all option texts": " ".join(f"{label}. {text}" for label, text in zip(LABELS, ANSWERS, strict=True)) + "\n",
    "option names": "Surprised ",
    "option names with numbers": "Surprised: 3, Joyful: 2, ",
    "option names in Chinese": "惊讶3分，高兴2分，",
    "option names with brackets": "Surprised (a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a) ",
    "endings": "Surpriseded",
    "A": "A ",
    "A or B": "A or B, ",
    "the answer": "Answer: ",
    "the answer A": "The answer is A. ",
    "second thoughts": "wait, actually, no, ",
    "would": "i would ",
    "numbers": "1, 2, 3, ",
    "negative numbers": "1  -2  ",
    "ranges": "2-3 to 4 ",
    "decimals": "1,5 ",
    "numbered": "1) 3; 2) 4; ",
    "table": "| Surprised | 3 |\n|---|---|\n",
    "dealer": "the dealer must draw to 17 and will bust. ",
    "dealer without an end": "the dealer must draw to 17 and show ",
    "own hand": "my total is 15 with an ace worth 11 ",
    "moves": "hit stand ",
    "not to move": "not no never ",
    "goodbye": "goodbye ",
    "said goodbye": "a very long goodbye, said bye ",
    "question without an end": "how long did it how long was that ",
    "wishes": "I would just want advice ",
    "person": "The person told her friend that she wants him to go. ",
    "people": "her mother and his wife ",
    "pronouns": "she ",
    "names": "The The ",
    "Chinese names": "小明小红",
    "Name: aspect": "Aa: Bb ",
    "keys": "api key token secret ",
    "bearer": "bearer ",
    "tl dr": "tl ",
    "url": "url( ",
    "model": "model ",
}


class Reader(NamedTuple):
    """A function that reads text, the modules whose expressions it uses, and how much of a long text it looks at."""

    read: Callable[[str], Any]
    modules: tuple[str, ...] = ()
    looks_at: int = 0
    patterns: tuple[re.Pattern[str], ...] = ()


class TooSlow(Exception):
    """The time for one reading is up."""


class _Loose(msgspec.Struct):
    a: Any = None


class _Strict(msgspec.Struct):
    change: int
    strategies: list[Literal["A-1", "B-2"]]
    feeling: str


_STRICT = msgspec.json.schema(_Strict)["$defs"]["_Strict"]


def _readers() -> dict[str, Reader]:
    scenario = next(bundled("en"))
    chinese = next(bundled("zh"))
    allocation, choice, structured = (
        (f"reading.{name}", "reading.text") for name in ("allocation", "choice", "structured")
    )
    blackjack = "instruments.egosocial.games.blackjack"
    bench = "instruments.egosocial.tombench"
    return {
        "read_choice": Reader(lambda t: read_choice(t, ANSWERS, LABELS), choice, 20_000),
        "read_choice, short": Reader(lambda t: read_choice(t, OPTIONS, LABELS)),
        "read_choice, cut off": Reader(lambda t: read_choice(t, ANSWERS, LABELS, finish="length")),
        "read_allocation": Reader(lambda t: read_allocation(t, OPTIONS), allocation, 20_000),
        "read_allocation, Chinese": Reader(lambda t: read_allocation(t, EMOTIONS), allocation, 20_000),
        "read_json": Reader(lambda t: read_json(t, _Loose), structured),
        "read_json, strict": Reader(lambda t: read_json(t, _Strict, _STRICT, partial=True), structured),
        # The readers cut a reply to this length before they call it.
        "plain": Reader(lambda t: squeeze(plain(t[:20_000])), ("reading.text",), 20_000),
        "read_items": Reader(lambda t: _file(t, lambda path: list(read_items(path, _Loose)))),
        "shortened": Reader(lambda t: shortened(t, "sk-none"), ("models.failures",), 4_000),
        "without_secrets": Reader(without_secrets, ("models.failures",)),
        "refused": Reader(lambda t: refused("server", 400, {}, t.encode("utf-8", "replace")), ("models.failures",)),
        "refused, JSON": Reader(lambda t: refused("server", 400, {}, msgspec.json.encode({"error": {"message": t}}))),
        "split_reasoning": Reader(split_reasoning),
        "read_statement": Reader(read_statement, (f"{blackjack}.statement",), 8_000),
        "read_statement, labelled": Reader(lambda t: read_statement(f"self belief: x\naction: {t}")),
        "blackjack file": Reader(
            lambda t: _file(_json({"system": t, "user": t}), lambda path: list(read_blackjack(path))),
            (f"{blackjack}.match",),
        ),
        "read_action": Reader(lambda t: read_action(t, ("call", "fold")), ("instruments.egosocial.games.asking",)),
        "read_guess": Reader(read_guess, ("instruments.egosocial.games.numbers.match",), 4_000),
        "parse_sentence": Reader(lambda t: (parse_sentence(t), parse_question(t))),
        "ToMi file": Reader(lambda t: list(read_questions(f"1 {t}", t, "file"))),
        "ToMi story": Reader(lambda t: list(read_questions(_story(len(t)), "x\n" * (len(t) // 60), "file"))),
        "ToMBench file": Reader(
            lambda t: _file(_tombench(t, "x", "x"), lambda path: list(read_file(path))), (f"{bench}.release",)
        ),
        "ToMBench ability": Reader(lambda t: _file(_tombench("x", t, "x"), lambda path: list(read_file(path)))),
        "ToMBench option": Reader(lambda t: _file(_tombench("x", "Belief: x", t), lambda path: list(read_file(path)))),
        "says_farewell": Reader(says_farewell, ("instruments.sage.person.emotion",), 4_000),
        "find_leak": Reader(
            lambda t: find_leak(t, scenario.hidden, scenario.intention), ("instruments.sage.person.emotion",)
        ),
        "find_leak, Chinese": Reader(lambda t: find_leak(t, chinese.hidden, "advice")),
        "quote": Reader(lambda t: quote(t, "q1"), ("reading.quotation",)),
        "read_feeling": Reader(read_feeling),
        "read_words": Reader(read_words),
        "SAGE profile": Reader(
            lambda t: from_profile(Profile("x", f"年龄{t}", f"\n#{t}", "建议", t)), ("instruments.sage.items",)
        ),
        "SAGE heading": Reader(lambda t: _HEADING.sub("", t), ("instruments.sage.dialogue",)),
        "SECEU document": Reader(
            lambda t: (_english([f"Story:{t}", f"Options:{t}"]), _numbers(t), _blocks([t, f"Item {t}"], _ENGLISH_HEAD)),
            ("instruments.seceu.items",),
        ),
        "Word document": Reader(lambda t: _docx("<w:p>" * (len(t) // 11) + "</w:p>" * (len(t) // 11))),
        "SESI checks": Reader(lambda t: flags([_sesi(t)]), ("instruments.sesi.build.checks",)),
        "SESI posts": Reader(
            lambda t: (split_tldr(t), filter_posts([RawPost("1", t, t, "", True, ())])),
            ("instruments.sesi.build.posts",),
        ),
        "world tree texts": Reader(
            lambda t: (tree_from(_tree(t), source="x", twin=t, language="en"), is_utterance(t), canonical(t)),
            ("instruments.socialeval.items", "instruments.socialeval.worldtree", "instruments.socialeval.abilities"),
        ),
        "harmless": Reader(harmless, ("cli.output",)),
        "page": Reader(lambda t: as_data_block({"a": t})),
    }


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _file(text: str, read: Callable[[Path], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.jsonl"
        path.write_text(text, encoding="utf-8", errors="replace", newline="")
        return read(path)


def _docx(body: str) -> Any:
    held = io.BytesIO()
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>')
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.docx"
        path.write_bytes(held.getvalue())
        return read_paragraphs(path)


def _story(size: int) -> str:
    told = "1 Anna entered the hall.\n2 The cup is in the box.\n"
    return told + "3 Anna moved the cup to the box.\n4 Where is the cup really?\tbox\t1\n" * (size // 60)


def _tombench(story: str, ability: str, option: str) -> str:
    row = {"能力\nABILITY": ability, "STORY": story, "QUESTION": "x", "故事": "x", "问题": "x", "答案\nANSWER": "A"}
    row |= {
        f"{prefix}{letter}": option if letter == "B" else letter for prefix in ("OPTION-", "选项") for letter in "ABCD"
    }
    return _json(row)


def _sesi(text: str) -> Question:
    return Question(id="x", situation=text, question=text, options=(text, "b", "c", "d"), answer=0, ability="x")


def _tree(text: str) -> dict[str, Any]:
    way = {"cid": 2, "content": text, "skill": text, "confusion": [{"question": [text, f"#skill#{text}"]}]}
    plot = [
        {"cid": 1, "type": "beginning", "dialog": [{"role": text, "content": text}], "choices": [way]},
        {"cid": 2, "type": "ending", "dialog": [{"role": f"fork-join {text}", "content": text}], "goal achievement": 2},
    ]
    return {
        "predefined_profiles": [{"name": text, "orientation": [1, -1], "goal": text}],
        "scenario": text,
        "interactive_plot": plot,
    }


def _expressions(reader: Reader) -> list[re.Pattern[str]]:
    """The expressions that the reader's modules hold, and those given with it."""
    found = list(reader.patterns)
    for name in reader.modules:
        for value in vars(importlib.import_module(f"sociometer.{name}")).values():
            held = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [value]
            found += [one for one in held if isinstance(one, re.Pattern) and isinstance(one.pattern, str)]
    return list(dict.fromkeys(found))


def _texts(reader: Reader, size: int, most: int) -> Iterator[tuple[str, str]]:
    for kind, unit in KINDS.items():
        yield kind, (unit * (size // len(unit) + 1))[:size]
    # The readers mark names and labels with private characters; a near miss gets what they are made from.
    marks = {code: f"{LABELS[code % 4]} " for code in range(0xE100, 0xE140)}
    marks |= {code: OPTIONS[code % 4] + EMOTIONS[code % 4] for code in range(0xE140, 0xE200)} | {0xE200: "2-3"}
    for pattern in _expressions(reader):
        for text in near_misses(pattern, min(size, reader.looks_at or size), most):
            yield f"near miss {text[:30]!r}", text.translate(marks)


def _seconds(read: Callable[[str], Any], text: str, limit: float) -> float:
    """How much time of a processor a reading takes; the limit where it takes more."""
    signal.setitimer(signal.ITIMER_PROF, limit)
    began = time.process_time()
    try:
        with suppress(SociometerError):
            read(text)
        taken = time.process_time() - began
        signal.setitimer(signal.ITIMER_PROF, 0)
        return taken
    except TooSlow:
        return limit
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _stop(number: int, frame: Any) -> None:
    raise TooSlow


def main() -> int:
    options = _options()
    signal.signal(signal.SIGPROF, _stop)
    load = f"load {os.getloadavg()[0]:.1f}"
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {load}")
    print(f"{options.size:,} characters a text; a reading may take {options.limit:g} s\n")
    print(f"{'reader':26} {'texts':>5} {'mean s':>7} {'worst s':>8}  worst text")
    late = []
    for name, reader in _readers().items():
        if options.only not in name:
            continue
        taken: list[tuple[float, str]] = []
        for kind, text in _texts(reader, options.size, options.near_misses):
            try:
                seconds = _seconds(reader.read, text, options.give_up)
            except Exception as error:
                print(f"{name}: {kind}: {type(error).__name__}: {str(error)[:200]}")
                late.append((name, kind))
                continue
            taken.append((seconds, kind))
            if options.all:
                print(f"  {seconds:8.3f}  {kind}")
            elif seconds > options.limit:
                print(f"  {seconds:8.3f}  {name}: {kind}", flush=True)
        worst = max(taken, default=(0.0, "none"))
        mean = sum(seconds for seconds, _ in taken) / max(1, len(taken))
        print(f"{name:26} {len(taken):5d} {mean:7.3f} {worst[0]:8.3f}  {worst[1]}", flush=True)
        late += [(name, kind) for seconds, kind in taken if seconds > options.limit]
    print(f"\n{len(late)} readings failed or took longer than {options.limit:g} s.")
    return 1 if late else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="readers whose name has this in it")
    parser.add_argument("--near-misses", type=int, default=40, help="near misses of each expression, at most")
    parser.add_argument("--size", type=int, default=1_000_000, help="characters a text")
    parser.add_argument("--limit", type=float, default=1.0, help="seconds a reading may take")
    parser.add_argument("--give-up", type=float, default=5.0, help="seconds after which a reading is ended")
    parser.add_argument("--all", action="store_true", help="print the seconds of every text")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
