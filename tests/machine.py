"""Random commands against a small oracle: `python tests/machine.py --minutes 60 --seed 1`.

How to add a rule, in ten lines:

1. Write `def rule_word(world, first, second)` with `@rule(first=CHOICES, second=CHOICES)`: each
   argument is drawn from its tuple; a value that stands there twice is drawn twice as often.
2. Call the command: `done = world.ask(store, "command", …)` gives the exit code, the JSON value and
   what was printed and asked, and has checked what holds of every command.
3. Ask `tests/oracle.py` what is promised; if it does not say so yet, add a function, in a sentence.
4. Compare inside `with promise(check):`, where `check` is a function of the section below whose
   docstring is the sentence that a fault would break; (1) wrong numbers, (2) wrong words.
5. Name what the command may change, `world.named(store, run)`: all else must be the same after it.
6. A fault that must wait becomes a strict xfail in `tests/test_machine_found.py`. Add it to `KNOWN`
   and ask `world.is_known("name")` beside the check, so that the machine goes on to find others.
7. Run `python tests/machine.py --minutes 2 --only word`: faults come with their fewest commands.

What a rule has to work with:

- `meaning(world, store, word)`: the id of the result that a word of `WORDS` means, or `None`: then
  `return`. Several commands of one subject on one form are one result, with the ids `a+b`;
  `run_meant(…)` is its newest run.
- `world.part(store, id)`: its `oracle.Part`, with the promised answer of each `Draw`; `counts()`
  says how many are scored, failed, unreadable and unplayed. Write into that of a run,
  `world.parts[store][run]`, what your command plays.
- `world.names[store]`: the subject that each name means; `holders(…)` are those that a word fits.
- `_command(…)` and `run_and_check(…)`: a `run` with everything that is promised of it.
- `question_in(text)`, `KEYS[item]`, `answer_of(model, mind, question)` of `scripted_subjects.py`:
  which item a text is about, its key, and what a model says. `oracle.points` scores an answer.
- `world.server`: `mood`, `mind`; leave it as it was. `world.new_file("x.csv")`: a path to write to.
- `world.store_of_its_own()`: where your command would change what other rules promise, such as
  the labels of people, which `compare` uses (then note it in `World`, as `labelled` does).
- A rule that raises anything but `Broken` is a fault of the machine, and is printed once.
"""

import argparse
import contextlib
import csv
import io
import itertools
import json
import math
import os
import random
import re
import shlex
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from inspect import isfunction
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent / "web"))
sys.path.insert(0, str(Path(__file__).parent))

from person import Person
from serving import Client, Served

import forked
import oracle
from oracle import A_STUDY, Draw, Form, Part, Subject
from scripted_subjects import (
    A_TALK,
    FUNCTION_ASKED,
    KEYS,
    MOODS,
    QUESTIONS,
    Subjects,
    answer_of,
    expected,
    is_spoilt,
    item_names,
    question_in,
)
from sociometer.cli.main import run_command
from sociometer.instruments import cards, load
from sociometer.store.store import Store
from sociometer.store.studies import StudyBook, book_path
from sociometer.web.browsing import ViewedStore
from sociometer.web.guard import TOKENS
from sociometer.web.study import study_application
from sociometer.web.view import view_application

NAMES = ("ann", "bob", "eve")
"""For models, names of subjects and studies alike, so that they collide."""
STORES = ("a", "a", "b")
TESTS = ("sesi", "sesi", "seceu")
TASKS = {"sesi": "questions", "seceu": "feelings"}
PRIMARY = {"sesi": "accuracy", "seceu": "distance"}
VALUES = {"sesi": "score.correct", "seceu": "score.distance"}
DATA = Path(os.environ.get("SOCIOMETER_DATA", "no official data"))
"""Official files; without them the rules that need them are not there."""
EXIT_CODES = {0, 1, 2, 3, 4, 5, 6, 130}
BY_WORD = {(question.item, question.language): question for question in QUESTIONS}

KNOWN: dict[str, str] = {
    "runs_needs_summaries": "test_runs_shows_the_same_scores_without_summaries",
    "against_leaves_out_played_items": "test_a_pair_is_compared_on_all_items_that_both_have",
    "forms_are_mixed": "test_an_item_picked_by_hand_is_not_compared_with_a_whole_test",
    "commands_share_parts": "test_two_commands_are_two_runs",
    "plan_ignores_what_is_stored": "test_a_second_plan_says_0_where_the_weights_are_known",
    "no_table": "test_subjects_that_share_no_items_are_each_shown",
    "plan_ignores_early_stops": "test_a_plan_says_that_a_comparison_may_stop_early",
    "replies_survive_a_deletion": "test_deleting_a_run_deletes_the_replies_that_no_other_run_uses",
    "lost_requests_are_not_counted": "test_runs_counts_the_requests_that_a_kill_lost",
    "failures_are_told_once": "test_a_command_that_a_cap_stops_tells_of_the_failures_that_are_left",
    "norm_rounds_scores": "test_who_ties_with_people_of_a_norm_is_not_above_them",
}
"""Faults that the machine goes around: a short name, and the plain test of `test_machine_found.py`
that shows it."""


# --- What is promised -----------------------------------------------------------------------------


def no_traceback() -> None:
    """No command ends with a traceback, with exit code 70 or with one that is not documented. (2)"""


def json_is_consistent() -> None:
    """A JSON value contradicts neither itself nor the exit code nor the server's count. (2)"""


def refusals_change_nothing() -> None:
    """A command that is refused sends nothing and changes nothing. (1)"""


def only_named_results_change() -> None:
    """An action changes no number of a result that it does not name. (1)"""


def scores_are_right() -> None:
    """The score, and how many items were scored, failed, unreadable or not played, follow from the
    answers. (1)"""


def values_lie_in_their_intervals() -> None:
    """A value lies in its interval. (1)"""


def no_reply_is_paid_twice() -> None:
    """A command sends exactly what has no stored reply: no reply is paid for twice, and none is
    lost. (1)"""


def same_command_is_same_run() -> None:
    """The same command again, with known weights, is the same run. (1)"""


def limits_are_beginnings() -> None:
    """What was played is a beginning of one order, the same for every subject. (1)"""


def exit_code_says_how_it_ended() -> None:
    """Exit code 0 is whole, 3 is unfinished and 4 has failed items. (2)"""


def caps_hold() -> None:
    """A cap is never exceeded over the models, tests, restarts and resumes of a run. (1)"""


def a_name_is_unique() -> None:
    """A name means one subject, and a subject has one name; what would change that is refused. (2)"""


def unknown_weights_are_not_joined() -> None:
    """Replies of perhaps different weights are put together only with `--same`; an unfinished command
    is refused with the line that continues it. (1)"""


def results_are_joined() -> None:
    """The commands of one subject on one form are one result: each item and repeat counts once, an
    answer before a failure, what was played here before what was copied, then the oldest. (1)"""


def another_model_is_another_subject() -> None:
    """Replies of a model that the server puts in the place of the first are not those of the
    subject. (1)"""


def a_word_means_the_same() -> None:
    """A word means the same in every command. (1)"""


def pairs_are_mirrored() -> None:
    """A against B mirrors B against A. (1)"""


def differences_are_right() -> None:
    """A difference is that of the shared items of one form; other forms are not compared. (1)"""


def tables_hold_everybody() -> None:
    """Adding a run takes no model out of a table; every stored result is shown or counted. (1)"""


def exports_are_accepted() -> None:
    """What export writes, check accepts. (1)"""


def plans_come_true() -> None:
    """A plan and then the run agree in requests and items; a second plan says 0 where the weights
    are known. (2)"""


def printed_commands_work() -> None:
    """A printed command, pasted, exits with neither 2 nor 5. (2)"""


def summaries_are_caches() -> None:
    """Drop all summaries at any moment, and nothing changes. (1)"""


def stores_are_whole() -> None:
    """Nothing in a store is damaged. (1)"""


def gates_agree() -> None:
    """A gate, its exit code, its reasons and the verdicts say the same. (1)"""


def decisions_stay() -> None:
    """What was decided stays decided; the items that were played are all compared. (1)"""


def order_does_not_matter() -> None:
    """An order of commands that does not matter gives the same numbers. (1)"""


def pages_show_everything() -> None:
    """A page and View show every stored run, or count it. (1)"""


def who_withdraws_is_gone() -> None:
    """After a withdrawal no byte of the person is in any file. (1)"""


def no_score_without_a_grade() -> None:
    """A simulator that fails is never a wrong answer of the subject: there is no score. (1)"""


def labels_are_of_the_rows() -> None:
    """A sheet names no subject and has each of its plays once; labels are those that were written,
    and the judge's mean beside them is the score. (1)"""


def norms_are_of_the_people() -> None:
    """The place of a model on a norm is the share of the people with a worse score; a norm needs ten
    people, and replies are paid for once. (1)"""


def copies_are_the_same() -> None:
    """A copy has the same numbers; a second copy changes nothing; a name never comes to mean two
    subjects. (1)"""


_HERE = [value for value in list(globals().values()) if isfunction(value)]
PROMISES = [function for function in _HERE if function.__module__ == __name__]


class Broken(AssertionError):
    """A promise that does not hold: which, and what was seen."""

    def __init__(self, check: Callable[[], None], seen: str) -> None:
        sentence = " ".join((check.__doc__ or "").split())
        super().__init__(f"{sentence}\n  seen: {seen}")
        self.check = check.__name__
        self.kind = int((check.__doc__ or "0)")[-2])
        self.seen = seen


@contextlib.contextmanager
def promise(check: Callable[[], None]) -> Iterator[None]:
    """Turns what fails inside into a broken promise."""
    try:
        yield
    except Broken:
        raise
    except AssertionError as error:
        seen = str(error).splitlines()[0] if str(error) else ""
        line = traceback.extract_tb(error.__traceback__)[-1].line
        raise Broken(check, f"{seen} [{line}]") from error


# --- The world ------------------------------------------------------------------------------------


class Answer(NamedTuple):
    """What a command gave."""

    code: int
    value: Any
    """Its JSON value."""
    out: str
    err: str
    asked: Counter
    """How often which subject was asked which item meanwhile."""

    @property
    def requests(self) -> int:
        return self.asked.total()


class World:
    """Two stores, a server, and what the oracle knows of them."""

    server: Subjects | None = None
    """One for all worlds of a process."""

    def __init__(self, known: dict[str, str] | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="machine-"))
        self.stores = {name: self.folder / name / "s.db" for name in ("a", "b", "people")}
        for path in self.stores.values():
            path.parent.mkdir()
        self.parts: dict[str, dict[str, Part]] = {name: {} for name in self.stores}
        self.names: dict[str, dict[str, Subject | str]] = {name: {} for name in self.stores}
        """The subject that each name means; that of a study is a word."""
        self.created: dict[tuple[str, str], float] = {}
        self.dates = 0
        self.spent: Counter = Counter()
        """Requests of each command line, over its restarts."""
        self.unsettled: Counter = Counter()
        """Requests that a cap reserved before a kill, of which nobody can say whether they were sent; they are
        charged."""
        self.caps: dict[tuple[str, str], int] = {}
        self.orders: dict[tuple, dict[int, frozenset[str]]] = {}
        self.steps: list[tuple[str, dict]] = []
        self.lines: list[str] = []
        self.printed: list[tuple[str, str]] = []
        self.deleted: list[Part] = []
        """Parts that were deleted, with the draws of which nobody can say whether their replies are
        left."""
        self.labelled: set[tuple[str, str]] = set()
        """Runs with labels of people: `compare` corrects the difference of two of them."""
        self._known = KNOWN if known is None else known
        self._before: dict[str, dict[str, dict]] = {name: {} for name in self.stores}
        self._named: set[tuple[str, str]] = set()
        if World.server is None:
            World.server = Subjects()
            World.server.__enter__()
        self.server = World.server
        self.server.mood = "good"
        self.server.mind = 0
        self.server.served_name = ""
        self.server.watch(None)
        self._environment = os.environ.get("SOCIOMETER_STORE")
        os.environ["SOCIOMETER_STORE"] = str(self.stores["a"])

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        os.environ.pop("SOCIOMETER_STORE")
        if self._environment is not None:
            os.environ["SOCIOMETER_STORE"] = self._environment

    def is_known(self, fault: str) -> bool:
        """Whether a fault is on the list, so that the machine goes around it."""
        return fault in self._known

    # Commands

    def ask(self, store: str, *words: object, is_json: bool = True) -> Answer:
        """Runs a command on a store, in this process, and checks what holds of every command."""
        line = [str(word) for word in words]
        if store:
            line += ["--store", str(self.stores[store])]
        if is_json:
            line.append("--json")
        mark, function_mark = len(self.server.asked), len(FUNCTION_ASKED)
        self.lines.append(shlex.join(["sociometer", *line]))
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run_command(line)
        asked = Counter(self.server.asked[mark:] + FUNCTION_ASKED[function_mark:])
        return self._checked(store, code, out.getvalue(), err.getvalue(), asked, is_json)

    def ask_forked(self, store: str, *words: object, act: Callable[[int, Any], None]) -> Answer:
        """The same in a process of its own; `act` gets the number of each request and the process."""
        line = [*map(str, words), "--store", str(self.stores[store]), "--json"]
        mark = len(self.server.asked)
        self.lines.append(shlex.join(["sociometer", *line]))
        process = None
        early: list[int] = []

        def watch(number: int) -> None:
            if process is None:
                early.append(number)
                return
            act(number, process)

        self.server.watch(watch)
        process = forked.start(["-m", "sociometer", *line], stdout=forked.PIPE, stderr=forked.PIPE)
        for number in early:
            act(number, process)
        out, err = process.communicate(timeout=120)
        self.server.watch(None)
        asked = Counter(self.server.asked[mark:])
        code = process.returncode
        if code == -signal.SIGKILL:
            return Answer(code, None, out, err, asked)
        return self._checked(store, code, out, err, asked, True)

    def _checked(self, store: str, code: int, out: str, err: str, asked: Counter, is_json: bool) -> Answer:
        with promise(no_traceback):
            assert "Traceback" not in err, err[-600:]
            assert code in EXIT_CODES, f"exit code {code}: {err[-300:]}"
        value = None
        with promise(json_is_consistent):
            if is_json:
                try:
                    value = json.loads(out)
                except ValueError:
                    raise AssertionError(f"not one JSON value: {out[:200]!r} {err[:200]!r}") from None
            if isinstance(value, dict) and "error" in value:
                assert value["exit_code"] == code != 0, (value, code)
            assert not (code == 2 and "error" not in (value or {"error": ""})), f"exit code 2 with {str(value)[:200]}"
        for printed in printed_commands(err):
            self.printed.append((store, printed))
        return Answer(code, value, out, err, asked)

    # What is stored

    def rows(self, store: str) -> dict[str, dict]:
        """What `runs` says, by run."""
        if not self.stores[store].exists():
            return {}
        rows = {row["run"]: row for row in self.ask(store, "runs").value}
        self.created |= {(store, run): row["created"] for run, row in rows.items()}
        return rows

    def part(self, store: str, result: str) -> Part:
        """What a result is promised to be, by its id: that of a run, or those of several."""
        return oracle.together([self.parts[store][run] for run in result.split("+")])

    def results(self, store: str, subject: Subject) -> list[str]:
        """The results of a subject, in the order in which they were begun."""
        forms: dict[Form, list[str]] = {}
        for run in self.in_order(store):
            part = self.parts[store][run]
            if part.subject == subject:
                forms.setdefault(part.form, []).append(run)
        return ["+".join(runs) for runs in forms.values()]

    def in_order(self, store: str) -> list[str]:
        """The runs of the subjects in a store, oldest first."""
        return sorted(self.parts[store], key=lambda run: (self.created.get((store, run), math.inf), run))

    def name_of(self, store: str, subject: Subject) -> str:
        """What a subject is called; empty if it is not there."""
        return next((name for name, meant in self.names[store].items() if meant == subject), "")

    def new_date(self) -> int:
        """The number of a new measurement."""
        self.dates += 1
        return self.dates

    def forget(self, store: str, *runs: str) -> list[Part]:
        """Runs are deleted; a subject without runs gives its name back."""
        parts = [self.parts[store].pop(run) for run in runs]
        for run in runs:
            self._before[store].pop(run, None)
        left = {part.subject for part in self.parts[store].values()}
        for subject in {part.subject for part in parts} - left:
            self.names[store].pop(self.name_of(store, subject), None)
        return parts

    def named(self, store: str, *runs: str) -> None:
        """The command may change these runs."""
        self._named.update((store, run) for run in runs)

    def plays(self, store: str, run: str) -> oracle.Answers:
        """The plays of a run, as its export has them, as answers of the oracle; a score must be
        one of the possible."""
        path = self.folder / "plays.csv"
        done = self.ask(store, "export", run, "--to", path)
        if done.code != 0:
            return {}
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        answers = {}
        for row in rows:
            draw = Draw(row["item"], int(row["repeat"]))
            answers[draw] = _answer_of_row(row)
        return answers

    def doubtful(self, store: str, subject: Subject, form: Form) -> set[Draw]:
        """Draws of which nobody can say whether they are paid for."""
        return oracle.doubtful([*self.parts[store].values(), *self.deleted], subject, form)

    def item_set(self, part: Part) -> frozenset[str]:
        return frozenset(draw.item for draw in part.answers)

    def new_file(self, name: str) -> Path:
        """Where a command writes a file; a file of an earlier step is never there."""
        folder = self.folder / f"step-{len(self.lines)}"
        folder.mkdir(exist_ok=True)
        return folder / name

    @contextlib.contextmanager
    def store_of_its_own(self) -> Iterator[str]:
        """The name of an empty store that no other rule sees."""
        name = f"own-{len(self.lines)}"
        folder = self.folder / name
        folder.mkdir()
        self.stores[name] = folder / "s.db"
        try:
            yield name
        finally:
            self.printed = [(store, printed) for store, printed in self.printed if f"/{name}/" not in printed]
            del self.stores[name]
            shutil.rmtree(folder)

    # A step

    def play(self, name: str, /, **arguments: object) -> None:
        """One rule, and what holds after every step."""
        self.steps.append((name, arguments))
        self._named = set()
        self.printed = self.printed[-20:]
        RULES[name].act(self, **arguments)
        self.check_after_step()

    def check_after_step(self) -> None:
        for store in self.stores:
            rows = self.rows(store)
            with promise(only_named_results_change):
                for run, before in self._before[store].items():
                    if (store, run) in self._named:
                        continue
                    assert run in rows, f"{run} is gone"
                    assert rows[run] == before, f"{before} became {rows[run]}"
                for run in rows.keys() - self._before[store].keys():
                    assert (store, run) in self._named, f"{run} came unasked"
            with promise(values_lie_in_their_intervals):
                for row in rows.values():
                    if row["low"] is not None:
                        assert row["low"] <= row["value"] <= row["high"], row
            with promise(a_name_is_unique):
                for run, part in self.parts[store].items():
                    name = self.name_of(store, part.subject)
                    assert rows[run]["subject"] == name, f"{run} is of {rows[run]['subject']}, promised {name}"
                    assert rows[run]["name"] in ("", name), rows[run]
            self._before[store] = rows

    def finish(self) -> None:
        """What is looked at once, at the end."""
        for store, path in self.stores.items():
            if not path.exists():
                continue
            checked = self.ask(store, "check", "store")
            with promise(stores_are_whole):
                assert checked.code == 0, checked.value
                assert not checked.value["findings"], checked.value
            for run, part in self.parts[store].items():
                check_numbers(self, store, run, part)
            check_names(self, store)
            check_tables(self, store)


def table_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def printed_commands(text: str) -> list[str]:
    """The commands in what was printed: in quotes, or after a colon to the end of a line or sentence."""
    quoted = re.findall(r"'(sociometer [^']+)'", text)
    at_the_end = re.findall(r": (sociometer .+?)(?:$|\. [A-Z])", text, re.MULTILINE)
    return quoted + [command.rstrip(".") for command in at_the_end]


def _answer_of_row(row: dict[str, str]) -> str:
    if row["failure"]:
        return oracle.FAILED
    test = row["instrument"]
    if int(row["unreadable"]):
        return oracle.UNREADABLE
    value = float(row[VALUES[test]])
    for answer in (oracle.RIGHT, oracle.WRONG):
        if math.isclose(value, oracle.points(test, KEYS[row["item"]], answer), abs_tol=1e-9):
            return answer
    raise Broken(scores_are_right, f"{row['item']} has the score {value}, which no answer has")


# --- Checks ---------------------------------------------------------------------------------------


def check_numbers(world: World, store: str, run: str, part: Part) -> None:
    """`show`, `runs` and the export of a run agree with the oracle."""
    shown = world.ask(store, "show", run)
    row = world.rows(store)[run]
    counts = part.counts()
    score = oracle.score(part.form, KEYS, part.answers)
    with promise(scores_are_right):
        assert shown.code == 0, shown.err
        plays = world.plays(store, run)
        assert plays == part.answers, f"{_differences(plays, part.answers)}"
        assert part.is_decided or row["done"] == counts.scored, f"runs says {row['done']} done; {counts}"
        assert row["errors"] == counts.failed, f"runs says {row['errors']} errors; {counts}"
        measures = shown.value["summaries"].get(TASKS[part.form.test], {"measures": []})["measures"]
        primary = [one for one in measures if one["name"] == PRIMARY[part.form.test] and not one["group"]]
        if not primary or primary[0]["value"] is None:
            assert score is None or counts.unplayed, f"no score; promised {score}"
            return
        measure = primary[0]
        if counts.unplayed == 0 and not part.is_decided:
            assert math.isclose(measure["value"], score, abs_tol=1e-9), f"{measure['value']}, promised {score}"
            assert math.isclose(row["value"], score, abs_tol=1e-9), f"runs says {row['value']}, promised {score}"
            assert measure["errors"] == counts.failed, f"{measure['errors']} errors; {counts}"
            assert measure["unreadable"] == counts.unreadable, f"{measure['unreadable']} unreadable; {counts}"


def check_names(world: World, store: str) -> None:
    """`show` of a name has all results of its subject, each with the numbers of its parts together."""
    for name, subject in world.names[store].items():
        if not isinstance(subject, Subject):
            continue
        promised = world.results(store, subject)
        shown = world.ask(store, "show", name)
        with promise(a_word_means_the_same):
            assert shown.code == 0, shown.err
            seen = shown.value if isinstance(shown.value, list) else [shown.value]
            assert sorted(one["run"] for one in seen) == sorted(promised), f"{name} is {[one['run'] for one in seen]}"
            assert {one["subject"] for one in seen} == {name}, f"{name} is {[one['subject'] for one in seen]}"
        for result in promised:
            check_result(world, store, result)


def check_result(world: World, store: str, result: str) -> None:
    """The numbers of several commands together."""
    parts = [world.parts[store][run] for run in result.split("+")]
    if len(parts) < 2:
        return
    part = oracle.together(parts)
    shown = world.ask(store, "show", result)
    with promise(results_are_joined):
        assert shown.code == 0 and shown.value["run"] == result, f"{shown.err} {result}"
        plays = world.plays(store, result)
        if any(each.counts().unplayed or each.is_decided for each in parts):
            wrong = {draw for draw, answer in plays.items() if answer != part.answers.get(draw)}
            assert not wrong or world.is_known("repeats_are_not_joined"), f"{_differences(plays, part.answers)}"
            return
        has_both = len({each.repeats for each in parts}) > 1 and any(each.is_copied for each in parts)
        if world.is_known("repeats_are_not_joined") and (has_both or any(each.counts().failed for each in parts)):
            return
        assert plays == part.answers, f"{_differences(plays, part.answers)}"
        score = oracle.score(part.form, KEYS, part.answers)
        measures = shown.value["summaries"][TASKS[part.form.test]]["measures"]
        found = [one for one in measures if one["name"] == PRIMARY[part.form.test] and not one["group"]]
        if not found or found[0]["value"] is None:
            assert score is None, f"no score; promised {score}"
            return
        measure, counts = found[0], part.counts()
        assert math.isclose(measure["value"], score, abs_tol=1e-9), f"{measure['value']}, promised {score}"
        assert measure["errors"] == counts.failed, f"{measure['errors']} errors; {counts}"
        assert measure["unreadable"] == counts.unreadable, f"{measure['unreadable']} unreadable; {counts}"


def _differences(seen: oracle.Answers, promised: oracle.Answers) -> dict:
    draws = sorted(seen.keys() | promised.keys())
    return {draw: (seen.get(draw), promised.get(draw)) for draw in draws if seen.get(draw) != promised.get(draw)}


def check_tables(world: World, store: str) -> None:
    """Every subject with a score is in the table of its test, or counted as left out."""
    rows = world.rows(store)
    for test in ("sesi", "seceu"):
        subjects = {row["subject"] for row in rows.values() if row["instrument"] == test and row["value"] is not None}
        if len(subjects) < 2:
            continue
        ranked = world.ask(store, "compare", test)
        with promise(tables_hold_everybody):
            if ranked.code == 2 and world.is_known("no_table"):
                continue
            assert ranked.code == 0, ranked.err
            shown = json.dumps(ranked.value)
            missing = [run for run in rows if rows[run]["instrument"] == test and not _is_mentioned(rows[run], shown)]
            assert not missing, f"compare {test} neither shows nor counts {missing}"
        with promise(values_lie_in_their_intervals):
            for ranking in ranked.value["rankings"]:
                for standing in ranking["standings"]:
                    interval = standing["interval"]
                    if interval["low"] is not None:
                        assert interval["low"] <= standing["value"] <= interval["high"], standing


def _is_mentioned(row: dict, shown: str) -> bool:
    words = (row["run"], row["name"] or row["run"], row["subject"])
    return any(word in shown for word in words)


# --- Rules ----------------------------------------------------------------------------------------


class Rule(NamedTuple):
    """A command with the choices for each of its arguments."""

    act: Callable[..., None]
    choices: dict[str, tuple]


RULES: dict[str, Rule] = {}


def rule(**choices: tuple) -> Callable:
    """Makes a function `rule_word` the rule `word`."""

    def add(act: Callable[..., None]) -> Callable[..., None]:
        RULES[act.__name__.removeprefix("rule_")] = Rule(act, choices)
        return act

    return add


MODELS = (
    "ann#1",
    "bob#1",
    "eve#1",
    "ann",
    "eve",
    "python:ann#1",
    "python:bob",
    "ann#1 bob#1",
    "ann#1 eve#1",
    "bob#1 eve",
)
LIMITS = (2, 3, 6, 6, 12)
WORDS = (*NAMES, "last", "newest", "oldest", "vllm/ann#1", "vllm/bob#1", "vllm/eve", "vllm/ann")


def subject_of(word: str) -> Subject:
    kind = "function" if word.startswith("python:") else "server"
    model, _, revision = word.removeprefix("python:").partition("#")
    return Subject(model, kind, revision)


def spec_of(world: World, subject: Subject) -> str:
    """What to write after `--model`."""
    revision = f"#{subject.revision}" if subject.revision else ""
    if subject.kind == "function":
        return f"python/scripted_subjects:{subject.model}{revision}"
    path = "known" if subject.revision else "own"
    return f"vllm/{subject.model}@{world.server.url_of(path)}{revision}"


def subject_of_spec(spec: str) -> Subject:
    """The subject that a run names."""
    kind = "function" if spec.startswith("python/") else "server"
    model, _, revision = spec.partition("#")
    return Subject(re.split("[/:]", model.partition("@")[0])[-1], kind, revision)


@rule(
    store=STORES,
    models=MODELS,
    test=TESTS,
    limit=LIMITS,
    repeats=(1, 1, 1, 2),
    seed=(0, 0, 0, 1),
    language=("en", "en", "en", "zh"),
    name=("", "", "", *NAMES),
    cap=(0, 0, 0, 1, 4, 9),
    mood=("good", "good", "good", *MOODS),
    in_flight=(32, 1),
)
def rule_run(world, store, models, test, limit, repeats, seed, language, name, cap, mood, in_flight):
    words, parts = _command(world, models, test, limit, repeats, seed, language)
    if cap:
        words += ["--max-requests", cap]
    run_and_check(world, store, [*words, "-o", f"in-flight={in_flight}"], parts, name, cap, mood)


@rule(store=STORES, models=MODELS, place=(0, 1, 2, 50), name=("", "", *NAMES))
def rule_run_item(world, store, models, place, name):
    item = item_names("sesi")[place]
    words, parts = _command(world, models, "sesi", 1, 1, 0, "en", item)
    run_and_check(world, store, words, parts, name, 0, "good")


@rule(
    store=STORES,
    models=MODELS,
    test=TESTS,
    limit=(2, 3),
    name=("", "", *NAMES),
    cap=(0, 0, 1),
    mood=("good", "good", "fails", "filters"),
)
def rule_run_fresh(world, store, models, test, limit, name, cap, mood):
    words, parts = _command(world, models, test, limit, 1, 0, "en")
    if cap:
        words += ["--max-requests", cap]
    run_and_check(world, store, [*words, "--fresh"], parts, name, cap, mood, is_fresh=True)


OWN = ("eve", "ann", "python:bob", "eve#1")


@rule(
    store=STORES,
    model=OWN,
    test=TESTS,
    limit=LIMITS,
    repeats=(1, 1, 2),
    name=("held", "held", *NAMES),
    is_same=(True, True, False),
    cap=(0, 0, 2),
    mood=("good", "good", "fails", "filters"),
)
def rule_run_same(world, store, model, test, limit, repeats, name, is_same, cap, mood):
    """More of a named subject whose weights nobody knows for certain, which the user vouches for."""
    words, parts = _command(world, model, test, limit, repeats, 0, "en")
    if name == "held":
        subject = subject_of(model)
        held = [word for word, meant in world.names[store].items() if meant[: len(subject) - 1] == subject[:-1]]
        name = held[-1] if held else "ann"
    if cap:
        words += ["--max-requests", cap]
    words += ["--same"] if is_same else []
    run_and_check(world, store, words, parts, name, cap, mood, is_same=is_same)


@rule(
    store=STORES, models=MODELS, limit=(2, 3, 6), name=("", "", *NAMES), cap=(0, 0, 5), mood=("good", "good", "fails")
)
def rule_run_two_tests(world, store, models, limit, name, cap, mood):
    """One command with two tests; its cap is one."""
    words, parts = _command(world, models, "sesi", limit, 1, 0, "en")
    words.insert(2, "seceu")
    parts += _command(world, models, "seceu", limit, 1, 0, "en")[1]
    for part in parts:
        part.command = tuple(map(str, words))
    if cap:
        words += ["--max-requests", cap]
    run_and_check(world, store, words, parts, name, cap, mood)


def _command(world, models, test, limit, repeats, seed, language, item=""):
    """The words of a command, and the parts that it promises, as yet without answers."""
    if test == "sesi":
        language = "en"  # the bundled items in Chinese are too few to draw limits from
    subjects = [subject_of(word) for word in models.split()]
    words: list[object] = ["run", test, "--quiet", "-o", "retries=0"]
    for subject in subjects:
        words += ["--model", spec_of(world, subject)]
    words += ["--item", item] if item else ["--limit", limit]
    if repeats > 1:
        words += ["--repeats", repeats]
    if seed:
        words += ["--seed", seed]
    if language != "en":
        words += ["--language", language]
    form = Form(test, language, seed, item)
    # The address changes from process to process; the command is compared without names, caps and conduct.
    command = tuple(map(str, words))
    asked = (form, limit, repeats)
    return words, [Part(subject, form, limit, repeats, command, asked) for subject in subjects]


def run_and_check(world, store, words, parts, name, cap, mood, *, is_fresh=False, is_same=False):
    """Runs a command and compares everything that it says with the oracle."""
    names, everything = world.names[store], world.parts[store]
    models = len({part.subject for part in parts})
    own = [everything[run] for run in world.in_order(store)]
    whys = [oracle.refusal(part, name, names, own, is_fresh=is_fresh, is_same=is_same, models=models) for part in parts]
    why = next(filter(None, whys), "")
    is_late = "unfinished" in why or "measured" in why
    if is_late and len(parts) > 1 and world.is_known("refused_after_paying"):
        return
    new: dict[Subject, int] = {}
    for part in parts:
        part.subject = _measured(world, store, part.subject, name, new, is_fresh)
        if is_fresh:
            part.asked = (*part.asked, part.subject.dated)
    same = [run for run, part in everything.items() if _is_same_command(part, parts)]
    spent = _spent(world, store)
    if name:
        words = [*words, "--name", name]
    world.server.mood = mood
    done = world.ask(store, *words, "-o", f"timeout={0.2 if mood == 'is slow' else 30}")
    world.server.mood = "good"
    check_spending(world, store, spent, done)
    if done.code == 2:
        check_refusal(world, done, why, mood)
        return
    with promise(unknown_weights_are_not_joined if is_late else a_name_is_unique):
        assert not why, f"{name or parts[0].subject} was measured, though: {why}"
    check_run(world, store, done, parts, name, mood, cap, same)
    with promise(exit_code_says_how_it_ended):
        played = [world.parts[store][row["run"]] for row in done.value]
        is_stopped = bool(cap) or nothing_was_answered(done, mood)
        promised = {oracle.exit_code(played), oracle.exit_code(played, is_stopped=is_stopped)}
        assert done.code in promised, f"exit code {done.code}, promised {promised}"
    if cap:
        key = (store, shlex.join(parts[0].command))
        if all(part.subject.has_known_weights for part in parts) and not is_fresh:
            world.spent[key] += done.requests
            world.caps[key] = max(cap, world.caps.get(key, 0))
        with promise(caps_hold):
            assert done.requests <= cap, f"{done.requests} requests under a cap of {cap}"
            assert world.spent[key] <= world.caps.get(key, cap), f"{world.spent[key]} requests over restarts, cap {cap}"


def _measured(world, store, subject, name, new, is_fresh):
    """The subject that a command measures: one that is stored, or a new one."""
    if subject.has_known_weights and not is_fresh:
        return subject
    holder = world.names[store].get(name) if name else None
    if isinstance(holder, Subject) and holder._replace(dated=0) == subject:
        return holder
    if subject not in new:
        new[subject] = world.new_date()
    return subject._replace(dated=new[subject])


def _is_same_command(part: Part, parts: list[Part]) -> bool:
    if part.is_copied or not part.subject.has_known_weights:
        return False
    return part.command == parts[0].command


def _spent(world: World, store: str) -> int:
    return sum(row["spent"]["requests"] for row in world.rows(store).values())


def check_spending(world: World, store: str, before: int, done: Answer) -> None:
    """What `runs` says was spent grew by what the server and the functions counted."""
    with promise(json_is_consistent):
        grew = _spent(world, store) - before
        most = done.requests + world.unsettled[store]
        assert done.requests <= grew <= most, f"runs says {grew} requests more, the subjects had {done.requests}"


def check_refusal(world, done, why, mood):
    """A refused command must have had a reason, and changed nothing."""
    with promise(refusals_change_nothing):
        no_answer = mood != "good" and done.requests <= 1
        assert done.requests == 0 or no_answer, f"refused after {done.requests} requests: {done.err}"
    if "unfinished" in why:
        with promise(unknown_weights_are_not_joined):
            assert "sociometer resume " in done.err, f"the line that continues it is missing: {done.err}"
    if "measured" in why:
        with promise(unknown_weights_are_not_joined):
            assert "--same" in done.err, f"refused without a word of --same: {done.err}"
    if why or (mood != "good" and "never answered" in done.err):
        return
    raise Broken(a_name_is_unique, f"refused: {done.err.strip()[:300]}")


DATE = r" \(\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?\)"


def check_new_name(world, store, subject, seen, name):
    """A subject is called as the user says, or by its model; of unknown weights with the date."""
    names = world.names[store]
    with promise(a_name_is_unique):
        promised = world.name_of(store, subject) or name
        if promised:
            assert seen == promised, f"it is called {seen}, promised {promised}"
            names[seen] = subject
            return
        assert seen not in names, f"{seen} means {names.get(seen)} and {subject}"
        number = r"( \(\d+\))?" if subject.dated or subject.label in names else ""
        form = re.escape(subject.label) + (DATE if subject.dated else "") + number
        assert re.fullmatch(form, seen), f"it is called {seen}"
        names[seen] = subject


def check_run(world, store, done, parts, name, mood, cap, same):
    """The runs that were printed are the promised ones, with the promised answers for the promised
    requests."""
    promised_requests = Counter()
    ranges = {}
    with promise(json_is_consistent):
        assert isinstance(done.value, list), f"{str(done.value)[:200]}"
        specs = [subject_of_spec(row["manifest"]["config"]["subject"]) for row in done.value]
        seen = {(row["instrument"], spec) for row, spec in zip(done.value, specs, strict=True)}
        promised = {(part.form.test, part.subject._replace(dated=0)): part for part in parts}
        assert seen == promised.keys() or (done.code == 3 and seen <= promised.keys()), f"{seen}"
    for row, spec in zip(done.value, specs, strict=True):
        template = promised[row["instrument"], spec]
        subject = template.subject
        run = row["run"]
        world.named(store, run)
        check_new_name(world, store, subject, row["subject"], name)
        stored = oracle.stored(world.parts[store].values(), subject, template.form)
        template.doubtful = world.doubtful(store, subject, template.form)
        with promise(same_command_is_same_run):
            earlier = [other for other in same if _is_for(world.parts[store][other], template)]
            assert not earlier or run in earlier, f"{run}, but the same command was {earlier}"
            is_shared = not earlier and run in world.parts[store]
            if is_shared and not world.is_known("commands_share_parts"):
                raise AssertionError(f"{run} is the run of another command")
        part = world.parts[store].get(run, template)
        check_plays(world, store, run, part, mood, done, stored, promised_requests, ranges)
        note_doubtful(part, done)
        part.was_capped |= bool(cap)
        world.parts[store][run] = part
        check_numbers(world, store, run, part)
        with promise(json_is_consistent):
            failed = sum(row["errors"].values())
            if done.code != 3 or not world.is_known("failures_are_told_once"):
                assert (row["done"], failed) == part.counts()[:2], (
                    f"done {row['done']}, errors {failed}; {part.counts()}"
                )
        world.rows(store)
        for result in world.results(store, subject):
            if run in result.split("+"):
                check_result(world, store, result)
    check_requests(world, store, done, promised_requests, ranges)


def _is_for(part: Part, template: Part) -> bool:
    return (part.subject, part.form.test) == (template.subject, template.form.test)


def nothing_was_answered(done: Answer, mood: str) -> bool:
    """Whether all requests of a command were spoilt: the server counts as out of reach then."""
    if mood not in ("fails", "refuses", "drops", "is slow") or not done.asked:
        return False
    return all(is_spoilt(BY_WORD[asked.item, asked.language]) for asked in done.asked)


def note_doubtful(part, done):
    """What was asked and has no answer, because a cap or a kill came between."""
    if done.code not in (3, 130, -signal.SIGKILL):
        return
    for asked in done.asked:
        if asked.model != part.subject.model:
            continue
        part.doubtful |= {Draw(asked.item, repeat) for repeat in range(part.repeats)} - part.answers.keys()


def check_plays(world, store, run, part, mood, done, stored, promised_requests, ranges):
    """What a run played, by its export: each answer is promised; what had no stored reply was
    asked."""
    plays = world.plays(store, run)
    kind = "function" if part.subject.kind == "function" else "known" if part.subject.revision else "own"
    mind = world.server.mind if kind == "own" else 0
    mood = "good" if kind == "function" else mood
    with promise(scores_are_right):
        for draw, seen in plays.items():
            if draw in part.doubtful:
                continue
            if done.code == 3 and seen == oracle.FAILED == part.answers.get(draw):
                asked = (part.subject.model, kind, draw.item, part.form.language)
                ranges[asked] = ranges.get(asked, 0) + 1  # the cap may have left no request for it
                continue
            question = BY_WORD[draw.item, part.form.language]
            before = part.answers.get(draw, oracle.FAILED)
            answer = stored.get(draw) or expected(part.subject.model, mind, mood, question)
            if before != oracle.FAILED:
                answer = before
            elif draw in part.paid or draw in stored:
                answer = answer if answer != oracle.FAILED else answer_of(part.subject.model, mind, question)
            else:
                asked = (part.subject.model, kind, draw.item, part.form.language)
                promised_requests[asked] += 1
                fewest, most = oracle.requests(answer)
                ranges[asked] = ranges.get(asked, 0) + most - fewest
            assert seen == answer, f"{draw} is {seen}, promised {answer}"
    with promise(limits_are_beginnings):
        check_order(world, part, plays)
    part.answers = plays
    part.paid |= {draw for draw, answer in plays.items() if answer != oracle.FAILED}


def check_order(world, part, plays):
    """Nested in all limits that anybody played of this form."""
    if part.counts().unplayed or not plays or part.form.picked:
        return
    items = frozenset(draw.item for draw in plays)
    if len(plays) < part.planned:
        return
    assert len(items) == part.items, f"{len(items)} items instead of {part.items}"
    order = world.orders.setdefault(part.form, {})
    for length, others in order.items():
        shorter, longer = (others, items) if length <= part.items else (items, others)
        assert shorter <= longer, f"the first {len(shorter)} are not among the first {len(longer)}"
    order[part.items] = items


def check_requests(world, store, done, promised, ranges):
    others = [*world.parts[store].values(), *world.deleted]
    doubtful = {draw.item for part in others for draw in part.doubtful}
    with promise(no_reply_is_paid_twice):
        seen = Counter({tuple(asked): times for asked, times in done.asked.items()})
        for asked in seen.keys() | promised.keys():
            if asked[2] in doubtful:
                continue
            fewest = promised[asked]
            most = fewest + ranges.get(asked, 0)
            assert fewest <= seen[asked] <= most, f"{asked}: {seen[asked]} requests, promised {fewest}"


PRICES = "".join(f'["vllm/{model}"]\ninput = 1e6\noutput = 1e6\nas_of = 2026-01-01\n' for model in NAMES)
"""One dollar for each token, so that a cap in dollars is one in tokens."""
WORST_REQUEST = 8000
"""More tokens than any request of these tests can use: its prompt in bytes and its longest reply."""


@contextlib.contextmanager
def priced(world: World) -> Iterator[None]:
    """The models have a price."""
    path = world.folder / "prices.toml"
    path.write_text(PRICES, encoding="utf-8")
    os.environ["SOCIOMETER_PRICES"] = str(path)
    try:
        yield
    finally:
        os.environ.pop("SOCIOMETER_PRICES")


@rule(
    models=("ann#1", "ann#1 bob#1", "eve"),
    test=TESTS,
    cap=(50, 3000, 6000, 20_000, 60_000),
    unit=("tokens", "cost"),
    mood=("good", "good", "fails", "says no usage", "lies about usage"),
    in_flight=(32, 1),
)
def rule_cap_of_tokens(world, models, test, cap, unit, mood, in_flight):
    """A cap in tokens or dollars, the command again, and then more of it."""
    words, parts = _command(world, models, test, 6, 1, 0, "en")
    words += ["-o", f"in-flight={in_flight}", f"--max-{unit}"]
    with world.store_of_its_own() as name, priced(world):
        world.server.mood = mood
        first = world.ask(name, *words, cap)
        if first.code == 2:
            with promise(caps_hold):
                assert cap < WORST_REQUEST and first.requests == 0, f"refused: {first.err}"
            return
        with promise(exit_code_says_how_it_ended):
            assert first.code in (0, 3, 4), f"exit code {first.code}: {first.err}"
        spent = check_spent(world, name, cap, unit)
        is_stopped = first.code == 3 and not nothing_was_answered(first, mood)
        with promise(caps_hold):
            assert not is_stopped or cap - spent < WORST_REQUEST, f"stopped at {spent} of {cap}"
        if all(part.subject.has_known_weights for part in parts):
            again = world.ask(name, *words, cap)
            spent_again = check_spent(world, name, cap, unit)
            with promise(caps_hold):
                assert first.code or again.requests == 0, f"{again.requests} requests, {spent_again} of {cap}"
        world.server.mood = "good"
        for run in world.rows(name):
            rest = world.ask(name, "resume", run, f"--max-{unit}", 10 * cap + 100 * WORST_REQUEST)
            with promise(exit_code_says_how_it_ended):
                assert rest.code == 0, f"exit code {rest.code} under a large cap: {rest.err}"
        for row in world.rows(name).values():
            with promise(scores_are_right):
                assert (row["done"], row["errors"]) == (6, 0), row


def check_spent(world: World, store: str, cap: float, unit: str) -> float:
    """What all runs of a store spent lies under the cap; the answers have 15 tokens each."""
    tokens = cost = 0
    for row in world.rows(store).values():
        spent = row["spent"]
        tokens += spent["input_tokens"] + spent["output_tokens"] + spent["charged_tokens"]
        cost += spent["cost"] + spent["charged_cost"]
    if unit == "tokens":
        cost = tokens
    with promise(caps_hold):
        assert cost <= cap, f"{cost} {unit} under a cap of {cap}"
        assert math.isclose(cost, tokens), f"{cost} dollars for {tokens} tokens at a dollar each"
    return cost


@rule(
    reference=("ann#1", "bob#1"), model=("eve#1", "ann#1", "bob#1"), limit=(40, 60), in_flight=(32, 1), cap=(0, 0, 20)
)
def rule_plan_against(world, reference, model, limit, in_flight, cap):
    """Plan a comparison that may stop early, run it, repeat it, plan it again and resume it."""
    if model == reference:
        return
    with world.store_of_its_own() as name:
        words, _ = _command(world, reference, "sesi", limit, 1, 0, "en")
        against = world.ask(name, *words).value[0]["run"]
        words, _ = _command(world, model, "sesi", limit, 1, 0, "en")
        words += ["--against", against, "-o", f"in-flight={in_flight}"]
        if cap:
            words += ["--max-requests", cap]
        estimate = planned_estimate(world, name, words)
        done = world.ask(name, *words)
        with promise(exit_code_says_how_it_ended):
            assert done.code in (0, 3), f"exit code {done.code}: {done.err}"
        with promise(plans_come_true):
            assert done.requests <= estimate["most_requests"], f"{done.requests} requests, {estimate}"
            is_stopped_by_cap = cap and done.code == 3
            fewest = estimate["fewest_requests"]
            if not is_stopped_by_cap and not world.is_known("plan_ignores_early_stops"):
                assert fewest <= done.requests, f"{done.requests} requests; the plan says {fewest} or more"
        with promise(caps_hold):
            assert not cap or done.requests <= cap, f"{done.requests} requests, cap {cap}"
        run = done.value[0]["run"]
        if done.code == 3:
            world.ask(name, "resume", run, "--max-requests", 1000)
        row = world.rows(name)[run]
        for again in (words[:-2] if cap else words, ["resume", run]):
            repeated = world.ask(name, *again)
            with promise(decisions_stay):
                assert (repeated.code, repeated.requests) == (0, 0), f"{repeated.requests} requests: {repeated.err}"
                assert world.rows(name)[run] == row, f"{row} became {world.rows(name)[run]}"
        estimate = planned_estimate(world, name, words[:-2] if cap else words)
        with promise(plans_come_true):
            if not world.is_known("plan_ignores_what_is_stored"):
                assert estimate["requests"] == 0, f"the plan of a decided run says {estimate['requests']} requests"


def planned_estimate(world: World, store: str, words: list[object]) -> dict:
    """What `plan` says of the words of a run with one model and one test."""
    planned = world.ask(store, "plan", *[word for word in words[1:] if word != "--quiet"])
    with promise(plans_come_true):
        assert planned.code == 0, planned.err
        assert planned.requests == 0, f"{planned.requests} requests"
    return planned.value[0]["estimate"]


@rule(store=STORES, word=WORDS, cap=(0, 0, 2, 30), mood=("good", "good", "good", "fails", "filters"))
def rule_resume(world, store, word, cap, mood):
    """Of a subject with one unfinished run, that run is resumed; with several, none is."""
    runs = runs_meant(world, store, word)
    open_runs = [run for run in runs if _is_open(world.parts[store][run])]
    if not runs or any(world.parts[store][run].is_decided for run in runs):
        return
    said = runs[0] if word in ("newest", "oldest") else word
    if len(open_runs) != 1 and len(runs) > 1:
        done = world.ask(store, "resume", said)
        with promise(a_word_means_the_same):
            assert done.code == 2, f"resume {said} exits with {done.code}; {open_runs} are unfinished"
        return
    run = (open_runs or runs)[0]
    words = ["resume", said]
    part = world.parts[store][run]
    if part.subject.kind == "function":
        words += ["--code", spec_of(world, part.subject)]
    if cap:
        words += ["--max-requests", cap]
    resume_and_check(world, store, store, run, words, cap, mood)


def _is_open(part: Part) -> bool:
    return not part.is_complete


def resume_and_check(world, store, given, run, words, cap, mood):
    """Resumes a run; `given` is the store to name in the command, empty where its words name it."""
    part = world.parts[store][run]
    spent = _spent(world, store)
    world.server.mood = mood
    done = world.ask(given, *words)
    world.server.mood = "good"
    check_spending(world, store, spent, done)
    if done.code == 2:
        raise Broken(printed_commands_work, f"resume {run}: {done.err.strip()[:300]}")
    world.named(store, run)
    promised_requests, ranges = Counter(), {}
    part.doubtful |= world.doubtful(store, part.subject, part.form)
    others = world.parts[store].values()
    stored = oracle.stored(others, part.subject, part.form, with_copied=part.is_copied)
    check_plays(world, store, run, part, mood, done, stored, promised_requests, ranges)
    note_doubtful(part, done)
    part.was_capped |= bool(cap)
    check_requests(world, store, done, promised_requests, ranges)
    check_numbers(world, store, run, part)
    is_stopped = part.was_capped or nothing_was_answered(done, mood)
    with promise(exit_code_says_how_it_ended):
        promised = {oracle.exit_code([part]), oracle.exit_code([part], is_stopped=is_stopped)}
        assert done.code in promised, f"exit code {done.code}, promised {promised}"


def holders(world: World, store: str, word: str) -> list[Subject]:
    """The subjects that a word fits: the one with this name, or those with this model."""
    names = world.names[store]
    if word in names:
        return [meant for meant in (names[word],) if isinstance(meant, Subject)]
    subjects = list(dict.fromkeys(world.parts[store][run].subject for run in world.in_order(store)))
    exactly = [subject for subject in subjects if subject.label == word]
    return exactly or [subject for subject in subjects if subject.label.startswith(f"{word}#")]


def meant(world: World, store: str, word: str) -> list[str]:
    """The results that a word means, if it fits one subject; `newest` and `oldest` are runs by their ids."""
    runs = world.in_order(store)
    if word in ("last", "newest"):
        own = [run for run in runs if not world.parts[store][run].is_copied] or runs
        if word == "newest" or not own:
            return own[-1:]
        results = world.results(store, world.parts[store][own[-1]].subject)
        return [result for result in results if own[-1] in result.split("+")]
    if word == "oldest":
        return runs[:1]
    subjects = holders(world, store, word)
    return world.results(store, subjects[0]) if len(subjects) == 1 else []


def meaning(world: World, store: str, word: str) -> str | None:
    """The id of the newest result that a word means."""
    results = meant(world, store, word)
    return results[-1] if results else None


def runs_meant(world: World, store: str, word: str) -> list[str]:
    """The runs that a word means, where runs are needed: `last` is the newest alone."""
    if word == "last":
        word = "newest"
    found = {run for result in meant(world, store, word) for run in result.split("+")}
    return [run for run in world.in_order(store) if run in found]


def run_meant(world: World, store: str, word: str) -> str | None:
    """The newest run of those that a word means."""
    runs = runs_meant(world, store, word)
    return runs[-1] if runs else None


def two_meant(world: World, store: str, first: str, second: str) -> list[str]:
    """The results that two words mean, if they have no run in common."""
    results = [meaning(world, store, first), meaning(world, store, second)]
    if None in results or set(results[0].split("+")) & set(results[1].split("+")):
        return []
    return results


@rule(store=STORES, first=WORDS, second=WORDS)
def rule_compare(world, store, first, second):
    runs = two_meant(world, store, first, second)
    if not runs:
        return
    parts = [world.part(store, run) for run in runs]
    done = world.ask(store, "compare", *runs)
    mirrored = world.ask(store, "compare", *reversed(runs))
    with promise(pairs_are_mirrored):
        assert done.code == mirrored.code, f"{done.code} one way, {mirrored.code} the other"
    if done.code == 2:
        with promise(differences_are_right):
            promised = _difference(*parts)
            assert promised is None or parts[0].form != parts[1].form, f"{done.err.strip()[:300]}"
        return
    if all(any((store, part) in world.labelled for part in run.split("+")) for run in runs):
        return
    for there, back in zip(done.value["comparisons"], mirrored.value["comparisons"], strict=True):
        check_pair(world, runs, parts, there, back)


def _difference(first: Part, second: Part) -> oracle.Difference | None:
    scores = [oracle.item_scores(part.form, KEYS, part.answers) for part in (first, second)]
    return oracle.difference(*scores)


def check_pair(world, runs, parts, there, back):
    with promise(a_word_means_the_same):
        assert [there["first_run"], there["second_run"]] == runs, f"{there['first_run']}, {there['second_run']}"
    if there["refused"]:
        with promise(differences_are_right):
            assert not oracle.may_be_compared(parts[0].form, parts[1].form) or _difference(*parts) is None, there[
                "refused"
            ]
        return
    measures = [one for one in there["measures"] if one["primary"] and not one["group"]]
    others = [one for one in back["measures"] if one["primary"] and not one["group"]]
    with promise(differences_are_right):
        if not oracle.may_be_compared(parts[0].form, parts[1].form):
            if world.is_known("forms_are_mixed"):
                return
            raise AssertionError(f"{parts[0].form} was compared with {parts[1].form}")
        promised = _difference(*parts)
        if any(part.counts().unplayed or part.is_decided for part in parts) or promised is None:
            return
        assert len(measures) == 1, f"{len(measures)} primary measures"
        paired = measures[0]["paired"]
        assert math.isclose(paired["difference"], promised.value, abs_tol=1e-9), f"{paired}, promised {promised}"
        assert paired["items"] == promised.items, f"{paired['items']} items, promised {promised}"
    with promise(pairs_are_mirrored):
        opposite = others[0]["paired"]
        assert math.isclose(paired["difference"], -opposite["difference"], abs_tol=1e-9), f"{paired}, {opposite}"
        low, high = paired["interval"]["low"], paired["interval"]["high"]
        if low is not None:
            assert math.isclose(low, -opposite["interval"]["high"], abs_tol=1e-9), f"{paired}, {opposite}"
            assert math.isclose(high, -opposite["interval"]["low"], abs_tol=1e-9), f"{paired}, {opposite}"
        swap = {"better": "worse", "worse": "better"}
        verdict = measures[0]["verdict"]
        assert others[0]["verdict"] == swap.get(verdict, verdict), f"{verdict} and {others[0]['verdict']}"


TYPED = (*NAMES, "last", "vllm/ann", "vllm/bob", "vllm/eve", "vllm/ann#1", "python/scripted_subjects:bob", "ann#1")


@rule(store=STORES, word=(*TYPED, "newest", "oldest"))
def rule_show(world, store, word):
    """`show` of a word has the results of its subject; a word that fits several subjects lists them."""
    subjects = holders(world, store, word)
    promised = meant(world, store, word)
    if word in ("newest", "oldest") and not promised:
        return
    shown = world.ask(store, "show", promised[0] if word in ("newest", "oldest") else word)
    with promise(a_word_means_the_same):
        if not promised:
            assert shown.code == 2, f"{word} fits {subjects}: exit code {shown.code}"
            unnamed = [one for one in subjects if world.name_of(store, one) not in shown.err]
            assert len(subjects) > 8 or not unnamed, f"{word} also fits {unnamed}: {shown.err}"
            return
        assert shown.code == 0, shown.err
        seen = {row["run"] for row in rows_shown(shown)}
        assert seen == set(promised), f"{word} is {sorted(seen)}, promised {promised}"


def rows_shown(shown: Answer) -> list[dict]:
    """The results that `show` has; none if it was refused."""
    if shown.code != 0:
        return []
    return shown.value if isinstance(shown.value, list) else [shown.value]


@rule(store=STORES, word=TYPED, other=TYPED)
def rule_same_word(world, store, word, other):
    """A word as it is typed: every command finds the same results, or none of them does."""
    if not world.stores[store].exists():
        return
    table = world.new_file("word.csv")
    shown = world.ask(store, "show", word)
    rescored = world.ask(store, "store", "rescore", word)
    exported = world.ask(store, "export", word, "--to", table)
    second = world.ask(store, "show", other)
    compared = world.ask(store, "compare", word, other)
    with promise(a_word_means_the_same):
        codes = {"show": shown.code, "rescore": rescored.code, "export": exported.code}
        assert len(set(codes.values())) == 1, f"{word}: {codes} {shown.err} {exported.err}"
        results = {row["run"] for row in rows_shown(shown)}
        assert rescored.code != 0 or {row["run"] for row in rescored.value} == results, f"{rescored.value}"
        if table.exists():
            seen = {row["run"] for row in table_rows(table)}
            empty = {result for result in results if not world.part(store, result).answers}
            assert seen <= results <= seen | empty, f"{word} is {sorted(results)}, exported {sorted(seen)}"
        if compared.code != 0:
            return
        assert shown.code == second.code == 0, f"compare takes what show refuses: {shown.err} {second.err}"
        theirs = {row["run"] for row in rows_shown(second)}
        for pair in compared.value["comparisons"]:
            sides = {pair["first_run"], pair["second_run"]}
            assert sides <= results | theirs, f"compare has {sides}, show {results} and {theirs}"


@rule(store=STORES, word=WORDS)
def rule_export_and_check(world, store, word):
    """A file of a run; of several commands together, a folder with a file of each."""
    result = meaning(world, store, word)
    if result is None:
        return
    runs = result.split("+")
    if len(runs) > 1:
        folder = world.new_file("files")
        parts = {run: world.parts[store][run] for run in runs}
        done = world.ask(store, "export", result, "--to", folder)
        with promise(exports_are_accepted):
            whole = [run for run, part in parts.items() if part.is_complete]
            assert done.code == 0 or not whole, f"exit code {done.code}: {done.err}"
            wrote = {file.stem for file in folder.glob("*.sociometer")} if folder.exists() else set()
            assert wrote >= set(whole), f"{wrote} were written, {whole} are finished"
            for run in wrote:
                checked = world.ask("", "check", folder / f"{run}.sociometer")
                assert checked.code == 0, f"exit code {checked.code}: {checked.value} {checked.err}"
                assert checked.value["episodes"] == len(parts[run].answers), checked.value
        return
    run, part = result, world.parts[store][result]
    if not part.answers:
        return
    path = world.new_file("run.sociometer")
    done = world.ask(store, "export", run, "--to", path)
    with promise(exports_are_accepted):
        if not part.is_complete and done.code != 0:
            assert done.code == 2, f"exit code {done.code}: {done.err}"
            return
        assert done.code == 0, f"exit code {done.code}: {done.err}"
        checked = world.ask("", "check", path)
        assert checked.code == 0, f"exit code {checked.code}: {checked.value} {checked.err}"
        assert checked.value["episodes"] == len(part.answers), checked.value
        assert checked.value["recomputed"] == part.counts().scored, checked.value


@rule(source=("a", "b"), trust=(False, False, True))
def rule_copy(world, source, trust):
    target = "b" if source == "a" else "a"
    if not world.stores[source].exists():
        return
    words = ["store", "copy", world.stores[source], world.stores[target]]
    clash = oracle.a_copy_clashes(world.names[source], world.names[target])
    done = world.ask("", *words, *(["--trust"] if trust else []))
    with promise(copies_are_the_same):
        assert (done.code != 0) == bool(clash), f"exit code {done.code}, {clash} would clash: {done.err}"
        assert done.code in (0, 2), f"exit code {done.code}"
        if clash:
            assert "sociometer store rename" in done.err, f"the rename is missing: {done.err}"
            return
        if world.is_known("second_copy_has_no_score") and world.rows(target):
            world.ask(target, "store", "rescore", *world.rows(target))
            world.named(target, *world.rows(target))
        theirs, ours = world.rows(source), world.rows(target)
        for run, part in world.parts[source].items():
            assert run in ours, f"{run} was not copied"
            for key in ("subject", "status", "done", "errors", "value", "low", "high"):
                assert ours[run][key] == theirs[run][key], f"{run}: {key} {theirs[run][key]} became {ours[run][key]}"
            if run in world.parts[target]:
                continue
            copy = Part(**{**vars(part), "answers": dict(part.answers), "paid": set(part.paid)})
            copy.is_copied = not trust or part.is_copied
            world.parts[target][run] = copy
            world.named(target, run)
        world.names[target] |= world.names[source]


@rule(model=("ann#1", "bob#1", "eve"), test=TESTS, cap=(2, 4, 0), trust=(False, True), mood=("good", "fails"))
def rule_copy_again(world, model, test, cap, trust, mood):
    """Copy an unfinished run, play on, copy again: the copy has everything, as the first store has."""
    words, _ = _command(world, model, test, 6, 1, 0, "en")
    with world.store_of_its_own() as ours:
        world.server.mood = mood
        done = world.ask(ours, *words, *(["--max-requests", cap] if cap else []))
        world.server.mood = "good"
        if done.code == 2:
            return
        run = done.value[0]["run"]
        with world.store_of_its_own() as theirs:
            copy = ["store", "copy", world.stores[ours], world.stores[theirs], *(["--trust"] if trust else [])]
            for _ in range(3):
                copied = world.ask("", *copy)
                with promise(copies_are_the_same):
                    assert copied.code == 0, copied.err
                    if world.is_known("second_copy_has_no_score"):
                        world.ask(theirs, "store", "rescore", run)
                    assert world.rows(theirs) == world.rows(ours), _first_difference(
                        world.rows(ours), world.rows(theirs)
                    )
                    assert world.plays(theirs, run) == world.plays(ours, run)
                    assert world.ask(theirs, "check", "store").code == 0
                world.ask(ours, "resume", run)


@rule(model=("ann#1", "bob#1"), test=TESTS, lengths=((3, 6), (6, 3), (2, 12)), deleted=(0, 1), is_copied=(False, True))
def rule_delete_shared(world, model, test, lengths, deleted, is_copied):
    """Of two runs with the same replies one is deleted; the other can be exported and checked, also
    from a copy, and repeated for nothing."""
    with world.store_of_its_own() as ours:
        runs = []
        for length in lengths:
            words, _ = _command(world, model, test, length, 1, 0, "en")
            runs.append((world.ask(ours, *words).value[0]["run"], words))
        gone, stays = runs[deleted][0], runs[1 - deleted]
        before = world.rows(ours)[stays[0]]
        with promise(only_named_results_change):
            assert world.ask(ours, "store", "delete", gone, "--yes").code == 0
            assert world.rows(ours) == {stays[0]: before}
        with contextlib.ExitStack() as opened:
            place = ours
            if is_copied:
                place = opened.enter_context(world.store_of_its_own())
                copied = world.ask("", "store", "copy", world.stores[ours], world.stores[place])
                with promise(copies_are_the_same):
                    assert copied.code == 0, copied.err
            file = world.new_file("stays.sociometer")
            with promise(exports_are_accepted):
                exported = world.ask(place, "export", stays[0], "--to", file)
                assert exported.code == 0, exported.err
                checked = world.ask("", "check", file)
                assert checked.code == 0, f"exit code {checked.code}: {checked.value}"
        again = world.ask(ours, *stays[1])
        with promise(no_reply_is_paid_twice):
            assert (again.code, again.requests) == (0, 0), f"exit code {again.code}, {again.requests} requests"
            assert world.ask(ours, "check", "store").code == 0


@rule(store=STORES, word=WORDS, name=(*NAMES, "vllm/bob#1", "last", "sesi"))
def rule_rename(world, store, word, name):
    """A subject gets another name, in all its runs; the old one is free."""
    run = run_meant(world, store, word)
    if run is None:
        return
    subject = world.parts[store][run].subject
    old = world.name_of(store, subject)
    said = run if word in ("newest", "oldest") else word
    done = world.ask(store, "store", "rename", said, name)
    is_free = name not in world.names[store] and name not in oracle.RESERVED
    with promise(a_name_is_unique):
        if name == old:
            assert done.code == 0, done.err
        else:
            assert (done.code == 0) == is_free, f"exit code {done.code}, {name} is {world.names[store].get(name)}"
    if done.code != 0 or name == old:
        return
    world.named(store, *(run for run, part in world.parts[store].items() if part.subject == subject))
    world.names[store][name] = world.names[store].pop(old)
    shown, before = world.ask(store, "show", name), world.ask(store, "show", old)
    with promise(a_word_means_the_same):
        assert {row["run"] for row in rows_shown(shown)} == set(world.results(store, subject)), shown.err
        expected = holders(world, store, old)
        assert (before.code == 0) == (len(expected) == 1), f"{old} is free; show exits with {before.code}"


@rule(model=("ann", "ann#1", "python:bob#1"), name=("", "day"), test=TESTS, commands=(1, 2))
def rule_two_fit(world, model, name, test, commands):
    """A model that was measured twice as two subjects: its label is refused by every command, with both names, and
    each name is accepted; after one of the two is deleted, the label is the other."""
    words, (part,) = _command(world, model, test, 3, 1, 0, "en")
    label = part.subject.label
    with world.store_of_its_own() as ours:
        first = world.ask(ours, *words, "--name", "night").value[0]["subject"]
        second = world.ask(ours, *words, "--fresh", *(["--name", name] if name else [])).value[0]["subject"]
        if commands == 2 and part.subject.has_known_weights:
            longer, _ = _command(world, model, test, 6, 1, 0, "en")
            world.ask(ours, *longer)
        before = world.rows(ours)
        reading = [("show",), ("store", "rescore"), ("check", "store"), ("compare", second), ("compare", first)]
        writing = {"export": ".csv", "report": ".html"}
        changing = [("store", "rename"), ("store", "delete"), ("resume",), ("sheet", "write")]

        def told(word):
            asked = [world.ask(ours, *one, word) for one in reading]
            files = [(one, world.new_file(f"x{ending}")) for one, ending in writing.items()]
            return asked + [world.ask(ours, one, word, "--to", file) for one, file in files]

        with promise(a_word_means_the_same):
            assert first != second
            more = {"rename": ["c"], "delete": ["--yes"], "write": ["--to", world.new_file("s.csv")]}
            refused = told(label) + [world.ask(ours, *one, label, *more.get(one[-1], [])) for one in changing]
            for answer, line in zip(refused, world.lines[-len(refused) :], strict=True):
                assert (answer.code, answer.requests) == (2, 0), f"exit code {answer.code}: {line}"
                assert first in answer.err and second in answer.err, f"{answer.err.strip()}: {line}"
            assert world.rows(ours) == before, "a refused word changed something"
            for word, other in ((first, second), (second, first)):
                for answer in told(word):
                    itself = "compare needs two" in answer.err
                    assert answer.code == 0 or itself, f"{word}: {answer.err}"
                assert world.ask(ours, "compare", word, other).code == 0
            assert world.ask(ours, "store", "delete", first, "--yes").code == 0
            shown = world.ask(ours, "show", label)
            assert shown.code == 0 and shown.value["subject"] == second, f"{label}: {shown.err}"


@rule(model=("ann#1", "eve", "python:bob#1", "python:bob"), name=("", "old"), test=TESTS, limit=(3, 6), cap=(0, 2))
def rule_rename_and_repeat(world, model, name, test, limit, cap):
    """Rename a subject, and give the old command again: it is the same run, or says the new name."""
    words, (part,) = _command(world, model, test, limit, 1, 0, "en")
    named = ["--name", name] if name else []
    with world.store_of_its_own() as ours:
        first = world.ask(ours, *words, *named, *(["--max-requests", cap] if cap else []))
        run, called = first.value[0]["run"], first.value[0]["subject"]
        renamed = world.ask(ours, "store", "rename", called, "new")
        with promise(a_name_is_unique):
            assert renamed.code == 0, renamed.err
        again = world.ask(ours, *words, *named)
        rest = limit - first.requests
        is_known = part.subject.has_known_weights
        with promise(same_command_is_same_run if is_known else unknown_weights_are_not_joined):
            if is_known and name:
                assert (again.code, again.requests) == (2, 0) and "'new'" in again.err, f"{again.code}: {again.err}"
                again = world.ask(ours, *words, "--name", "new")
            if is_known:
                assert (again.code, again.requests) == (0, rest), f"{again.requests} requests: {again.err}"
                assert again.value[0]["run"] == run, f"{run} became {again.value[0]['run']}"
                assert again.value[0]["subject"] == "new", f"{again.value[0]['subject']}"
            elif cap:
                assert (again.code, again.requests) == (2, 0) and f"resume {run}" in again.err, again.err
            else:
                assert (again.code, again.requests) == (0, limit), f"{again.requests} requests: {again.err}"
                assert again.value[0]["subject"] != "new", "the renamed subject was measured again"
                assert not name or again.value[0]["subject"] == name
                joined = world.ask(ours, *words, "--name", "new")
                assert (joined.code, joined.requests) == (2, 0) and "--same" in joined.err, joined.err
                joined = world.ask(ours, *words, "--name", "new", "--same")
                assert (joined.code, joined.requests) == (0, 0), f"{joined.requests} requests: {joined.err}"
                assert world.ask(ours, "show", "new").value["run"] == f"{run}+{joined.value[0]['run']}"
        shown = world.ask(ours, "show", "new")
        with promise(scores_are_right):
            if is_known or not cap:
                measures = shown.value["summaries"][TASKS[test]]["measures"]
                mine = [one for one in measures if one["name"] == PRIMARY[test] and not one["group"]]
                answers = world.plays(ours, "new")
                assert len(answers) == limit, f"{len(answers)} plays"
                assert math.isclose(mine[0]["value"], oracle.score(part.form, KEYS, answers), abs_tol=1e-9)


@rule(store=STORES, word=WORDS)
def rule_delete(world, store, word):
    """A run by its id, or all runs of a subject by its name."""
    runs = runs_meant(world, store, word)
    if not runs:
        return
    done = world.ask(store, "store", "delete", runs[0] if word in ("newest", "oldest") else word, "--yes")
    with promise(only_named_results_change):
        assert done.code == 0, done.err
        assert sorted(done.value["deleted"]) == sorted(runs), done.value
        assert not set(runs) & world.rows(store).keys(), f"{runs} are still there"
    for part in world.forget(store, *runs):  # with its replies; those that another part cites are in its own list
        if world.is_known("replies_survive_a_deletion"):
            part.doubtful |= part.paid
            world.deleted.append(part)


@rule(store=STORES, word=WORDS)
def rule_rescore(world, store, word):
    run = meaning(world, store, word)  # the id of a result
    if run is None:
        return
    before = everything_said(world, store, run)
    done = world.ask(store, "store", "rescore", run)
    with promise(only_named_results_change):
        assert done.code == 0, f"exit code {done.code}: {done.err}"
        assert done.requests == 0, f"{done.requests} requests"
        assert everything_said(world, store, run) == before, "after rescore something else is said"


def everything_said(world: World, store: str, run: str) -> list[object]:
    """What all commands that read say of a run."""
    table = world.new_file("said.jsonl")
    world.ask(store, "export", run, "--to", table)
    others = [other for other in world.rows(store) if other not in run.split("+")][-1:]
    asked = [world.ask(store, "show", run), world.ask(store, "check", "store", run)]
    asked += [world.ask(store, "compare", run, other) for other in others]
    said: list[object] = [(answer.code, answer.value) for answer in asked]
    return [*said, table.read_text(encoding="utf-8") if table.exists() else ""]


@rule(store=STORES)
def rule_forget_summaries(world, store):
    if not world.stores[store].exists():
        return
    before = world.rows(store)
    with contextlib.closing(sqlite3.connect(world.stores[store])) as database:
        database.execute("DELETE FROM summary")
        database.commit()
    world.lines.append(f"# all summaries of {store} are dropped")
    with promise(summaries_are_caches):
        after = world.rows(store)
        if not world.is_known("runs_needs_summaries"):
            assert before == after, _first_difference(before, after)
    for run in before:
        world.ask(store, "store", "rescore", run)
    with promise(summaries_are_caches):
        after = world.rows(store)
        assert before == after, _first_difference(before, after)


def _first_difference(before: dict, after: dict) -> str:
    for run in before:
        if before[run] != after.get(run):
            return f"{before[run]} became {after.get(run)}"
    return f"{sorted(after.keys() - before.keys())} came"


@rule(store=STORES, models=("ann#1", "bob#1", "eve", "ann#1 bob#1"), test=TESTS, limit=LIMITS, repeats=(1, 2))
def rule_plan_then_run(world, store, models, test, limit, repeats):
    words, parts = _command(world, models, test, limit, repeats, 0, "en")
    own = [world.parts[store][run] for run in world.in_order(store)]
    why = [oracle.refusal(part, "", world.names[store], own) for part in parts]
    planned = world.ask(store, "plan", *[word for word in words[1:] if word != "--quiet"])
    with promise(plans_come_true):
        assert planned.requests == 0, f"{planned.requests} requests"
        assert (planned.code == 2) == any(why), f"exit code {planned.code}, promised {why}: {planned.err}"
    if any(why):
        return
    stored = [oracle.stored(world.parts[store].values(), part.subject, part.form) for part in parts]
    said = sum(one["estimate"]["requests"] for one in planned.value)
    mark = len(world.server.asked)
    run_and_check(world, store, words, parts, "", 0, "good")
    sent = len(world.server.asked) - mark
    with promise(plans_come_true):
        has_doubt = any(world.doubtful(store, part.subject, part.form) for part in parts)
        if (any(stored) or has_doubt) and world.is_known("plan_ignores_what_is_stored"):
            return
        assert said == sent, f"the plan says {said} requests, the run sent {sent}"
    again = world.ask(store, "plan", *[word for word in words[1:] if word != "--quiet"])
    with promise(plans_come_true):
        if world.is_known("plan_ignores_what_is_stored"):
            return
        said = sum(one["estimate"]["requests"] for one in again.value)
        promised = sum(0 if part.subject.has_known_weights else limit * repeats for part in parts)
        assert said == promised, f"the second plan says {said} requests, promised {promised}"


@rule(
    store=STORES,
    model=("ann#1", "bob#1", "eve#1", "ann"),
    test=TESTS,
    limit=(6, 12),
    moment=(1, 2, 5),
    how=("kill", "kill", "interrupt"),
    in_flight=(1, 4, 32),
    cap=(0, 0, 50),
    then_resume=(False, True),
)
def rule_run_killed(world, store, model, test, limit, moment, how, in_flight, cap, then_resume):
    """A process that is killed or interrupted at a random request; only what was in flight may be
    paid for again."""
    words, (part,) = _command(world, model, test, limit, 1, 0, "en")
    own = [world.parts[store][run] for run in world.in_order(store)]
    if oracle.refusal(part, "", world.names[store], own):
        return
    part.subject = _measured(world, store, part.subject, "", {}, False)
    spent_before = {run: row["spent"]["requests"] for run, row in world.rows(store).items()}
    before = set(spent_before)

    def act(number, process):
        if number == moment:
            process.kill() if how == "kill" else process.send_signal(signal.SIGINT)

    capped = ["--max-requests", cap] if cap else []
    done = world.ask_forked(store, *words, *capped, "-o", f"in-flight={in_flight}", act=act)
    with promise(exit_code_says_how_it_ended):
        fitting = {"kill": (-signal.SIGKILL, 0), "interrupt": (130, 0)}[how]
        assert done.code in fitting, f"exit code {done.code} after a {how}: {done.err[-200:]}"
    rows = world.rows(store)
    new = [run for run in rows if run not in before]
    same = [run for run, other in world.parts[store].items() if _is_same_command(other, [part])]
    runs = new or same
    with promise(same_command_is_same_run):
        assert len(new) <= 1, f"{new} came"
    if not runs:
        return
    run = runs[0]
    world.named(store, run)
    check_new_name(world, store, part.subject, rows[run]["subject"], "")
    part = world.parts[store].get(run, part)
    stored = oracle.stored(world.parts[store].values(), part.subject, part.form)
    plays = world.plays(store, run)
    with promise(scores_are_right):
        for draw, seen in plays.items():
            question = BY_WORD[draw.item, part.form.language]
            mind = 0 if part.subject.revision else world.server.mind
            if draw in part.doubtful:
                continue
            assert seen == (stored.get(draw) or answer_of(part.subject.model, mind, question)), f"{draw} is {seen}"
    with promise(no_reply_is_paid_twice):
        again = [asked for asked in done.asked if Draw(asked.item, 0) in stored or done.asked[asked] > 1]
        assert not again, f"{again} asked again"
    part.answers = plays
    part.paid |= set(plays)
    note_doubtful(part, done)
    world.parts[store][run] = part
    if not then_resume:
        world.unsettled[store] += in_flight if cap else 0
        return
    resumed = world.ask(store, "resume", run)
    part.answers = world.plays(store, run)
    part.paid |= set(part.answers)
    part.doubtful.clear()
    with promise(no_reply_is_paid_twice):
        assert resumed.code == 0, f"exit code {resumed.code}: {resumed.err}"
        twice = resumed.asked & done.asked
        assert twice.total() <= in_flight, f"{twice} paid twice, {in_flight} in flight"
    with promise(caps_hold):
        spent = world.rows(store)[run]["spent"]["requests"]
        sent = done.requests + resumed.requests + (0 if new else spent_before[run])
        if cap or how == "interrupt" or not world.is_known("lost_requests_are_not_counted"):
            assert spent >= sent, f"runs says {spent} requests, {sent} were sent"
    check_answers(part)
    check_numbers(world, store, run, part)


@rule(store=STORES, mind=(1, 2))
def rule_new_weights(world, store, mind):
    """The server behind the address without a revision gets other weights; stored numbers stay as
    they are."""
    world.server.mind = mind
    world.lines.append(f"# the server without a revision has other weights, number {mind}")


@rule(store=STORES, model=("eve#1", "bob#1", "eve"), limit=(12, 6, 40), word=WORDS)
def rule_against(world, store, model, limit, word):
    """Against a run with the same items; then again, which decides nothing anew."""
    reference = meaning(world, store, word)
    if reference is None:
        return
    part = world.part(store, reference)
    if part.form != Form("sesi", "en", 0, "") or part.items < limit or not part.is_complete:
        return
    words, (promised,) = _command(world, model, "sesi", limit, 1, 0, "en")
    if promised.subject == part.subject:
        return
    promised.subject = _measured(world, store, promised.subject, "", {}, False)
    words += ["--against", reference]
    promised.command = tuple(map(str, words))
    promised.asked = (*promised.asked, reference)
    done = world.ask(store, *words)
    with promise(decisions_stay):
        assert done.code == 0, f"exit code {done.code}: {done.err}"
    run = done.value[0]["run"]
    world.named(store, run)
    check_new_name(world, store, promised.subject, done.value[0]["subject"], "")
    promised.answers = world.plays(store, run)
    check_answers(promised)
    promised.paid = set(promised.answers)
    promised.items = len(promised.answers)
    promised.is_decided = True
    world.parts[store][run] = promised
    if promised.subject.has_known_weights:
        before = world.rows(store)[run]
        again = world.ask(store, *words)
        with promise(decisions_stay):
            assert again.value[0]["run"] == run and again.requests == 0, f"{again.requests} requests"
            assert world.rows(store)[run] == before, f"{before} became {world.rows(store)[run]}"
    compared = world.ask(store, "compare", reference, run)
    with promise(decisions_stay):
        paired = compared.value["comparisons"][0]["measures"][0]["paired"]
        both = len(promised.answers.keys() & part.answers.keys())
        assert paired["items"] <= both, f"{paired['items']} of {both} items"
        if not world.is_known("against_leaves_out_played_items"):
            assert paired["items"] == both, f"{paired['items']} items compared, {both} played by both"


def check_answers(part: Part) -> None:
    """Each answer of a run in good mood is the one that the subject gives."""
    with promise(scores_are_right):
        for draw, seen in part.answers.items():
            mind = 0 if part.subject.revision else World.server.mind
            answer = answer_of(part.subject.model, mind, BY_WORD[draw.item, part.form.language])
            assert seen == answer, f"{draw} is {seen}, promised {answer}"


@rule(store=STORES, first=WORDS, second=WORDS)
def rule_gate(world, store, first, second):
    runs = two_meant(world, store, first, second)
    if not runs:
        return
    done = world.ask(store, "compare", *runs, "--fail-if", "worse")
    if done.code == 2:
        return
    with promise(gates_agree):
        gate = done.value["gate"]
        assert gate["holds"] == (done.code == 0), f"exit code {done.code}, gate {gate}"
        assert gate["holds"] == (not gate["reasons"]), gate
        primary = [one for one in done.value["comparisons"][0]["measures"] if one["primary"] and not one["group"]]
        verdicts = {one["verdict"] for one in primary}
        if verdicts & {"worse", "too few"} or done.value["comparisons"][0]["refused"]:
            assert not gate["holds"], f"{verdicts} and the gate holds"
        elif verdicts & {"better", "cannot tell"} and len(verdicts) == 1:
            failed = any(part.counts() != _whole(part) for part in (world.part(store, run) for run in runs))
            assert gate["holds"] or failed, f"{verdicts} and {gate['reasons']}"


def _whole(part: Part) -> oracle.Counts:
    return oracle.Counts(part.planned, 0, part.counts().unreadable, 0)


@rule(store=STORES)
def rule_paste(world, store):
    """The last command that was printed, as it was printed."""
    if not world.printed:
        return
    of_store, printed = world.printed.pop()
    words = shlex.split(printed)[1:]
    has_gap = any(re.fullmatch("[A-Z]{2,}", word) for word in words)
    if has_gap or words[0] not in ("resume", "show", "runs", "compare", "check", "list"):
        return
    if words[0] != "resume":
        done = world.ask("", *words, is_json=False)
        with promise(printed_commands_work):
            assert done.code not in (2, 5), f"{printed}: exit code {done.code}: {done.err[:200]}"
        return
    run = words[1]
    if run in world.parts.get(of_store, {}) and not world.parts[of_store][run].is_decided:
        resume_and_check(world, of_store, "", run, words, 0, "good")


def rule_official(world, models, limit, is_first):
    """Official items beside ours: other questions, other replies, never one table or one pair."""
    official = ["--official", "--limit", limit]
    with world.store_of_its_own() as name:
        runs = {}
        for kind in sorted(("official", "bundled"), reverse=is_first):
            for model in models.split():
                words = ["run", "sesi", "--quiet", "--model", spec_of(world, subject_of(model))]
                done = world.ask(name, *words, *(official if kind == "official" else ["--limit", 6]))
                with promise(no_reply_is_paid_twice):
                    promised = limit if kind == "official" else 6
                    assert (done.code, done.requests) == (0, promised), f"{done.requests} requests: {done.err}"
                runs[kind, model] = done.value[0]["run"]
        for model in models.split():
            run = runs["official", model]
            answer = official_answer(model)
            right = sum(OFFICIAL_KEYS[draw.item] == answer for draw in item_values(world, name, run))
            with promise(scores_are_right):
                value = world.rows(name)[run]["value"]
                assert math.isclose(value, right / limit), f"{value}, promised {right} of {limit}"
        first, second = models.split()
        mixed = world.ask(name, "compare", runs["official", first], runs["bundled", second])
        with promise(differences_are_right):
            assert mixed.code == 2 or mixed.value["comparisons"][0]["refused"], "official items compared with ours"
        same = world.ask(name, "compare", runs["official", first], runs["official", second])
        with promise(differences_are_right):
            assert same.code == 0, same.err
            paired = same.value["comparisons"][0]["measures"][0]["paired"]
            values = [world.rows(name)[runs["official", model]]["value"] for model in (first, second)]
            assert math.isclose(paired["difference"], values[1] - values[0], abs_tol=1e-9), f"{paired}, {values}"
            assert paired["items"] == limit, paired
        table = world.ask(name, "compare", "sesi")
        with promise(tables_hold_everybody):
            assert table.code == 0, table.err
            standings = [len(ranking["standings"]) for ranking in table.value["rankings"]]
            left_out = [one for ranking in table.value["rankings"] for one in ranking["left_out"]]
            assert sum(standings) + len(left_out) == 4, f"tables of {standings} models, left out {left_out}"
            assert standings == [2, 2], f"tables of {standings} models, promised two of two"
        file = world.new_file("official.sociometer")
        with promise(exports_are_accepted):
            assert world.ask(name, "export", runs["official", first], "--to", file).code == 0
            checked = world.ask("", "check", file)
            assert checked.code == 0, f"exit code {checked.code}: {checked.value}"


def official_answer(model: str) -> int:
    """The place that a model always names where it does not know the question."""
    return 0 if answer_of(subject_of(model).model, 0, A_TALK) == oracle.RIGHT else 1


OFFICIAL_KEYS: dict[str, int] = {}
if (DATA / "sesi" / "sesi.csv").is_file():
    OFFICIAL_KEYS = {row["ID"]: int(row["Answer"]) for row in table_rows(DATA / "sesi" / "sesi.csv")}
    rule(models=("ann#1 eve#1", "bob#1 ann#1"), limit=(4, 12), is_first=(True, False))(rule_official)


@rule(model=("ann#1", "bob#1", "eve"), test=TESTS, limit=(6, 12), moment=(2, 4), in_flight=(1, 4))
def rule_another_model(world, model, test, limit, moment, in_flight):
    """The provider puts another model in the place of the first while a run is played, and takes it back."""
    words, (part,) = _command(world, model, test, limit, 1, 0, "en")
    with world.store_of_its_own() as name:
        world.server.watch(lambda number: setattr(world.server, "served_name", "" if number < moment else "other"))
        done = world.ask(name, *words, "-o", f"in-flight={in_flight}")
        world.server.watch(None)
        run = done.value[0]["run"]
        try:
            with promise(another_model_is_another_subject):
                assert done.code == 3, f"exit code {done.code}: {done.err}"
                assert done.value[0]["done"] < moment, f"{done.value[0]['done']} of {moment - 1} items"
                seen = world.plays(name, run)
                assert len(seen) < moment, f"{seen}"
                resumed = world.ask(name, "resume", run)
                assert resumed.code == 3, f"exit code {resumed.code}: {resumed.err}"
                assert world.plays(name, run) == seen, "the other model played on"
                fresh = world.ask(name, *words, "--fresh", "--name", "other")
                assert (fresh.code, fresh.requests) == (0, limit), f"{fresh.requests} requests: {fresh.err}"
        finally:
            world.server.served_name = ""
        if world.is_known("another_model_stays_in_the_way"):
            return
        resumed = world.ask(name, "resume", run)
        with promise(another_model_is_another_subject):
            assert resumed.code == 0, f"the first model is back: exit code {resumed.code}"
        check_answers(Part(part.subject, part.form, limit, 1, answers=world.plays(name, run)))


@rule(store=STORES, test=("sesi", "seceu"))
def rule_paper_tables(world, store, test):
    rows = [row for row in world.rows(store).values() if row["instrument"] == test]
    if not rows:
        return
    done = world.ask(store, "paper", "tables", test, "all", "--to", world.folder / "tables")
    with promise(pages_show_everything):
        has_score = any(row["value"] is not None for row in rows)
        assert done.code == 0 or not has_score, f"exit code {done.code}: {done.err}"


@rule(
    store=STORES,
    word=WORDS,
    sample=(40, 3),
    raters=(1, 2),
    how=("agree", "agree", "contradict", "repeat a row", "another draw", "not allowed", "another store"),
)
def rule_sheet(world, store, word, sample, raters, how):
    """People label replies of a run: as the key has them, or the opposite; or their file is spoilt."""
    run = run_meant(world, store, word)
    if run is None or not world.parts[store][run].counts().scored:
        return
    part = world.parts[store][run]
    sheet = world.new_file("sheet.csv")
    written = world.ask(store, "sheet", "write", run, "--to", sheet, "--sample", sample)
    with promise(labels_are_of_the_rows):
        assert written.code == 0, written.err
        rows = table_rows(sheet)
        text = sheet.read_text(encoding="utf-8") + sheet.with_suffix(".md").read_text(encoding="utf-8")
        assert run not in text and f"/{part.subject.model}" not in text, "the sheet names the run or its subject"
        units = [row["unit"] for row in rows]
        assert len(set(units)) == len(units) == written.value["rows"], f"{units}, {written.value}"
        assert len(rows) == min(sample, part.counts().scored), f"{len(rows)} rows of {part.counts()}"
        items = Counter(question_in(row["talk"]).item for row in rows)
        played = Counter(draw.item for draw, answer in part.answers.items() if answer != oracle.FAILED)
        assert items <= played, f"{items - played} were not played"
    for row in rows:
        row["value"] = _label(part, question_in(row["talk"]).item, is_opposite=how == "contradict")
    files = [sheet.with_name(f"{rater}.csv") for rater in ("anna", "ben")[:raters]]
    _spoil(rows, how)
    for file in files:
        with file.open("w", encoding="utf-8", newline="") as opened:
            table = csv.DictWriter(opened, rows[0])
            table.writeheader()
            table.writerows(rows)
    of_store = {"a": "b", "b": "a"}[store] if how == "another store" else store
    done = world.ask(of_store, "sheet", "read", *files)
    if how not in ("agree", "contradict"):
        with promise(labels_are_of_the_rows):
            assert done.code == 2, f"{how}: exit code {done.code}"
        return
    world.labelled.add((store, run))
    again = world.ask(store, "sheet", "read", *files)
    with promise(labels_are_of_the_rows):
        assert done.code == 0, done.err
        assert again.value == done.value, "the same files again say something else"
        counted = {rater["rater"]: rater["labelled"] for rater in done.value["raters"]}
        assert counted == {file.stem: len(rows) for file in files}, counted
        yes = {row["answer"]: row["share"] for row in done.value.get("answers", [])}.get("yes")
        promised = sum(row["value"] == "yes" for row in rows) / len(rows)
        assert yes is None or math.isclose(yes, promised), f"{yes} say yes, promised {promised}"
        is_plain = not part.counts().unreadable
        if how == "agree" and is_plain:
            assert not done.value.get("apart"), done.value["apart"]


def _label(part: Part, item: str, is_opposite: bool) -> str:
    """What a person who knows the key writes about a reply: yes or no, or the distance."""
    answer = next(answer for draw, answer in part.answers.items() if draw.item == item and answer != oracle.FAILED)
    points = oracle.points(part.form.test, KEYS[item], answer)
    if part.form.test != "sesi":
        return repr(10 - points if is_opposite else points)
    return "yes" if bool(points) != is_opposite else "no"


def _spoil(rows: list[dict[str, str]], how: str) -> None:
    """What must be refused of a filled-in sheet."""
    if how == "repeat a row":
        rows.append(dict(rows[0]))
    if how == "another draw":
        rows[0]["unit"] = "abcdefgh-001"
    if how == "not allowed":
        rows[-1]["value"] = "perhaps"


@rule(store=STORES, kind=("report", "view", "view"))
def rule_page(world, store, kind):
    rows = world.rows(store)
    if not rows:
        return
    if kind == "report":
        page = world.folder / "page.html"
        done = world.ask(store, "report", *rows, "--to", page)
        with promise(pages_show_everything):
            assert done.code == 0, done.err
            text = page.read_text(encoding="utf-8")
            missing = [row["subject"] for row in rows.values() if row["subject"] not in text]
            assert not missing, f"the page does not name {missing}"
        return
    with Served(view_application(ViewedStore(world.stores[store], load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        listed = owner.get("/").text
        with promise(pages_show_everything):
            missing = [run for run in rows if f'data-run="{run}"' not in listed]
            assert not missing or len(rows) > 20, f"View does not list {missing}"
            for run in list(rows)[-2:]:
                shown = owner.get(f"/run/{run}/")
                assert shown.status == 200, f"View shows {run} with status {shown.status}"


@rule(store=STORES, first=WORDS, second=WORDS)
def rule_side_by_side(world, store, first, second):
    """View's page of two runs says of them what `compare` says of the older and the newer."""
    runs = [run_meant(world, store, first), run_meant(world, store, second)]
    if None in runs or runs[0] == runs[1]:
        return
    older, newer = sorted(runs, key=lambda run: world.rows(store)[run]["created"])
    parts = [world.parts[store][run] for run in (older, newer)]
    done = world.ask(store, "compare", older, newer)
    with Served(view_application(ViewedStore(world.stores[store], load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        page = owner.get(f"/side-by-side?run={runs[0]}&run={runs[1]}")
    with promise(pages_show_everything):
        assert page.status in (200, 400, 404), f"status {page.status}"
        shared = set.intersection(*({draw.item for draw in part.answers} for part in parts))
        is_one_form = parts[0].form == parts[1].form and shared
        assert page.status == 200 or not is_one_form, f"status {page.status} for two runs of one form"
        if page.status != 200 or done.code != 0:
            return
        rows = [world.rows(store)[run] for run in runs]
        missing = [row for row in rows if not _is_mentioned(row, page.text)]
        assert not missing, f"the page does not name {missing}"
    comparison = done.value["comparisons"][0]
    primary = [one for one in comparison["measures"] if one["primary"] and not one["group"]]
    with promise(gates_agree):
        for measure in primary:
            if measure["verdict"] in ("better", "worse"):
                assert measure["verdict"] in page.text.casefold(), f"the page does not say {measure['verdict']}"


@rule(store=STORES, models=("ann#1 eve#1", "bob#1 eve#1"), test=TESTS, limit=(3, 6))
def rule_other_order(world, store, models, test, limit):
    """The same models in another order, in a store of its own, have the same numbers."""
    numbers = []
    for order in (models.split(), models.split()[::-1]):
        with world.store_of_its_own() as name:
            for model in order:
                words, _ = _command(world, model, test, limit, 1, 0, "en")
                done = world.ask(name, *words)
                with promise(exit_code_says_how_it_ended):
                    assert done.code == 0, f"exit code {done.code}: {done.err}"
            rows = world.rows(name).values()
            numbers.append({row["subject"]: (row["value"], row["low"], row["high"], row["done"]) for row in rows})
    with promise(order_does_not_matter):
        assert numbers[0] == numbers[1], f"{numbers[0]}, {numbers[1]}"


HELPED = {"sage": ("simulator",), "helpdesk": ("judge",)}
if (DATA / "egosocialarena" / "blackjack.jsonl").is_file():
    HELPED["egosocial"] = ("judge", "--task", "blackjack", "--official")


@rule(
    test=tuple(HELPED),
    mood=("fails", "nonsense", "sometimes fails", "sometimes fails", "sometimes nonsense"),
    limit=(1, 2, 3),
)
def rule_helper_fails(world, test, mood, limit):
    """A simulator or a judge fails or cannot be read, and is well again: then everything is as if it
    always had been."""
    role, *more = HELPED[test]
    helper = f"vllm/{role}@{world.server.url_of('known')}#1"
    words = ["run", test, "--quiet", "--limit", limit, *more, "-o", "retries=0"]
    words += ["--model", spec_of(world, Subject("ann", "server", "1")), "--role", f"{role}={helper}"]
    with world.store_of_its_own() as name:
        clean = world.ask(name, *words)
        (promised,) = world.rows(name).values()
        scores = item_values(world, name, promised["run"])
    with world.store_of_its_own() as name:
        world.server.helper_mood = mood
        first = world.ask(name, *words)
        world.server.helper_mood = "good"
        with promise(exit_code_says_how_it_ended):
            assert first.code in (0, 2, 3, 4), f"exit code {first.code}: {first.err}"
        if first.code == 2:
            return
        (row,) = world.rows(name).values()
        seen = item_values(world, name, row["run"])
        check_helped(mood, row, promised, seen, scores)
        resumed = world.ask(name, "resume", row["run"])
        if "nonsense" in mood:
            return
        after = world.rows(name)[row["run"]]
        with promise(no_score_without_a_grade):
            assert resumed.code == clean.code, f"exit code {resumed.code}: {resumed.err}"
            for key in ("value", "low", "high", "done", "errors"):
                assert after[key] == promised[key], f"{key} is {after[key]}, promised {promised[key]}"
            assert item_values(world, name, row["run"]) == scores
        with promise(no_reply_is_paid_twice):
            together = first.requests + resumed.requests
            assert together == clean.requests, f"{together} requests to the subject, promised {clean.requests}"


def check_helped(mood: str, row: dict, promised: dict, seen: dict, scores: dict) -> None:
    """Whoever has a score has the one that a helper which is well gives; who has none, failed."""
    with promise(no_score_without_a_grade):
        if mood in ("fails", "nonsense") and row["instrument"] == "sage":
            assert row["value"] is None and row["done"] == 0, row
        assert row["done"] + row["errors"] <= promised["done"] + promised["errors"], row
        for draw, values in seen.items():
            if "nonsense" in mood:
                continue
            assert not values or values == scores[draw], f"{draw} is {values}, promised {scores[draw]}"


def item_values(world: World, store: str, run: str) -> dict[Draw, dict[str, str]]:
    """The scores of each play of a run of any test, as its export has them; of a failure none."""
    table = world.new_file("values.csv")
    world.ask(store, "export", run, "--to", table)
    values = {}
    for row in table_rows(table) if table.exists() else []:
        scores = {name: value for name, value in row.items() if name.startswith("score.") and value}
        values[Draw(row["item"], int(row["repeat"]))] = {} if row["failure"] else scores
    return values


@contextlib.contextmanager
def opened_study(path: Path, name: str) -> Iterator[tuple[str, str]]:
    """The address of a study that is open, and the link on which people join it."""
    with contextlib.closing(Store(path)) as store, contextlib.closing(StudyBook(book_path(path))) as book:
        study = book.study(name)
        with Served(study_application(study, store, book, load, 10_000)) as served:
            yield served.url, f"/join/{study.secret}"


@rule(store=STORES, name=NAMES, people=(2, 3), manner=("stays", "leaves and comes back", "careless"))
def rule_study(world, store, name, people, manner):
    """People come, leave, come back, are careless; one withdraws. A study's name is a name."""
    held = world.names["people"].get(name)
    create = ("study", "create", "seceu", "--name", name, "--limit", 3, "--ask", "age")
    done = world.ask("people", *create)
    with promise(a_name_is_unique):
        assert (done.code == 2) == bool(held), f"exit code {done.code}: {done.err}"
    if held:
        return
    world.names["people"][name] = A_STUDY
    path = world.stores["people"]
    secret = f"Zwiebelturm{len(world.lines)}"
    with opened_study(path, name) as (url, link):
        came = []
        for number in range(people):
            points = ((4, 3, 2, 1), (1, 2, 3, 4), (2, 2, 3, 3))[number]
            if manner == "careless":
                points = (10, 0, 0, 0)
            person = Person(url, link, points=points)
            person.join(**{"about-0": secret if number == 0 else "30"})
            if manner == "leaves and comes back":
                person.answer()
                code = person.code
                person = Person(url, link, points=points)
                person.come_back(code)
            person.answer_all()
            came.append(person)
        came[0].withdraw()
    world.lines.append(f"# {people} people took the study {name} ({manner}); the first withdrew")
    with promise(who_withdraws_is_gone):
        for file in path.parent.rglob("*"):
            assert file.is_dir() or secret.encode() not in file.read_bytes(), f"{secret} is in {file.name}"
    world.named("people", *world.rows("people"))
    even = ("run", "seceu", "--quiet", "--limit", 3, "--model", "baseline/even")
    taken = world.ask("people", *even, "--name", name)
    with promise(a_name_is_unique):
        assert taken.code == 2, f"{name} is a study and now a model too"
    shown = world.ask("people", "study", "show", name)
    with promise(json_is_consistent):
        assert shown.code == 0, shown.err


SHARED = ((4, 3, 2, 1), (1, 2, 3, 4), (7, 1, 1, 1), (0, 0, 5, 5), (2, 6, 1, 1))
"""How people share out their points."""


@rule(people=(10, 9, 12), test=TESTS, model=("ann#1", "eve#1", "bob"), is_first=(False, True))
def rule_norm(world, people, test, model, is_first):
    """A study, its norm, and the place of a model on it; what was paid for before is used again."""
    words, _ = _command(world, model, test, 3, 1, 0, "en")
    with world.store_of_its_own() as name:
        created = world.ask(name, "study", "create", test, "--name", "norm", "--limit", 3, "--ask", "age")
        with promise(no_traceback):
            assert created.code == 0, created.err
        with opened_study(world.stores[name], "norm") as (url, link):
            for number in range(people):
                person = Person(url, link, choose=AtPlaces(number), points=SHARED[number % 4])
                person.join(**{"about-0": f"{40 + number}"})
                chance = random.Random(number)
                while person.answer():
                    person.points = chance.choice(SHARED)
        world.lines.append(f"# {people} people took the study norm")
        file = world.new_file("norm.json")
        made = world.ask(name, "study", "norms", "norm", "--to", file)
        with promise(norms_are_of_the_people):
            assert (made.code == 0) == (people >= 10), f"exit code {made.code} of {people} people: {made.err}"
        if people < 10:
            return
        seconds = [row["value"] for row in world.rows(name).values()]
        first = world.ask(name, *words) if is_first else None
        done = world.ask(name, *words, "--norm", file)
        with promise(norms_are_of_the_people):
            assert done.code == 0, done.err
            has_paid = first is not None and "#" in model
            assert done.requests == (0 if has_paid else 3), f"{done.requests} requests"
            check_norm(world, name, done.value[0]["run"], test, seconds, first)


class AtPlaces:
    """Chooses options in turn, from one place on."""

    def __init__(self, first: int) -> None:
        self.place = first

    def __call__(self, options: list[str]) -> str:
        self.place += 1
        return options[self.place % len(options)]


def check_norm(world, name, run, test, people, first):
    """The place of a model is the share of people with a worse score; ties count half."""
    measures = world.ask(name, "show", run).value["summaries"][TASKS[test]]["measures"]
    place = [one for one in measures if one["name"] == "percentile" and not one["group"]]
    assert len(place) == 1, f"{len(place)} percentiles"
    if test != "sesi":  # the key of SECEU becomes that of the norm
        assert place[0]["value"] is None or 0 <= place[0]["value"] <= 1, place[0]
        return
    value = world.rows(name)[run]["value"]
    worse = sum(1 if person < value else 0.5 if person == value else 0 for person in people)
    if not world.is_known("norm_rounds_scores"):
        promised = worse / len(people)
        assert math.isclose(place[0]["value"], promised, abs_tol=1e-9), f"{place[0]}, promised {promised}"
    if first is not None:
        assert world.rows(name)[first.value[0]["run"]]["value"] == value, "the norm moved the score"


# --- Drivers --------------------------------------------------------------------------------------


RUNS = ("run", "run", "run_two_tests", "run_same", "run_fresh")
OFTEN = dict.fromkeys(("show", "same_word", "rename", "delete", "copy", "export_and_check", "gate", "against"), 3)
OFTEN |= dict.fromkeys(("resume", "compare", "run_item", *RUNS), 4) | {"run": 8}
"""Rules of the two stores that all others see are played more often than those with a store of their own."""


def draw_steps(chance: random.Random, only: str = "", length: int = 14) -> list[tuple[str, dict]]:
    """A random sequence of rules with their arguments."""
    names = list(RULES)
    weights = [OFTEN.get(name, 1) for name in names]
    steps = []
    for place in range(length):
        name = chance.choices(names, weights)[0]
        if place < 3:  # or there is nothing to look at
            name = chance.choice(RUNS)
        elif only and chance.random() < 0.3:
            name = only
        steps.append((name, {word: chance.choice(values) for word, values in RULES[name].choices.items()}))
    return steps


def play_steps(steps: list[tuple[str, dict]], known: dict[str, str] | None = None) -> tuple[World, Broken | None]:
    """A world in which these steps were played, and the first promise that broke."""
    world = World(known)
    try:
        for name, arguments in steps:
            world.play(name, **arguments)
        world.finish()
    except Broken as error:
        return world, error
    finally:
        world.close()
    return world, None


def shrink(steps: list[tuple[str, dict]], broken: Broken, seconds: float = 20) -> tuple[list, World, Broken]:
    """The fewest steps, with the simplest arguments, that break the same promise."""
    until = time.monotonic() + seconds
    best, best_world, best_broken = steps, None, broken
    has_changed = True

    def attempt(candidate: list) -> bool:
        nonlocal best, best_world, best_broken
        world, error = play_steps(candidate)
        if error is None or error.check != broken.check or _shape(error) != _shape(broken):
            return False
        best, best_world, best_broken = candidate[: len(world.steps)], world, error
        return True

    attempt(best)
    while has_changed and time.monotonic() < until:
        has_changed = False
        for place in reversed(range(len(best))):
            if place < len(best) and time.monotonic() < until:
                has_changed |= attempt(best[:place] + best[place + 1 :])
        for place, (name, arguments) in enumerate(list(best)):
            for word, value in arguments.items():
                simplest = RULES[name].choices[word][0]
                if value == simplest or place >= len(best) or time.monotonic() > until:
                    continue
                candidate = [*best]
                candidate[place] = (name, {**best[place][1], word: simplest})
                has_changed |= attempt(candidate)
    if best_world is None:
        best_world = play_steps(best)[0]
    return best, best_world, best_broken


def _shape(error: Broken) -> str:
    """What was seen, without numbers and ids, so that two faults of one cause look the same."""
    return re.sub(r"\[.*\]$|[a-z]+-[a-z0-9]{5}|\d+|'[^']*'", "#", error.seen)[:60]


def as_test(steps: list[tuple[str, dict]], world: World, broken: Broken) -> str:
    """A plain test, ready to paste into test_machine_found.py."""
    reason = (broken.seen.splitlines() or [""])[0].replace('"', "'")
    lines = ["", "", f'@pytest.mark.xfail(strict=True, reason="TOPIC: {broken.check}")']
    lines += [f"def test_{broken.check}_{abs(hash(reason)) % 1000}(world):"]
    for name, arguments in steps:
        given = ", ".join(f"{word}={value!r}" for word, value in arguments.items())
        lines.append(f'    world.play("{name}", {given})')
    lines += ["    world.finish()", f"    # kind {broken.kind}: {reason[:300]}"]
    lines += [f"    # {line}" for line in world.lines if not re.search(r" (runs|show|export|check store) ", line)]
    return "\n".join(lines)


def main() -> None:
    """Plays for some minutes and prints what was found."""
    parser = argparse.ArgumentParser(description="Random commands against a small oracle.")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a rule to play more often")
    parser.add_argument("--length", type=int, default=14)
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    faults: dict[tuple[str, str], str] = {}
    pairs: Counter = Counter()
    errors: set[str] = set()
    sequences = steps_played = 0
    started = time.monotonic()
    while time.monotonic() < until:
        chance = random.Random(f"{given.seed} {sequences}")
        steps = draw_steps(chance, given.only, given.length)
        try:
            world, broken = play_steps(steps)
        except Exception as error:
            if repr(error) not in errors:
                print(f"the machine itself failed on sequence {sequences} of seed {given.seed}:", flush=True)
                traceback.print_exc(file=sys.stdout)
            errors.add(repr(error))
            broken, world = None, None
        sequences += 1
        if world is None:
            continue
        steps_played += len(world.steps)
        played = [name for name, _ in world.steps]
        pairs.update(itertools.pairwise(played))
        if broken is None or (broken.check, _shape(broken)) in faults:
            continue
        key = (broken.check, _shape(broken))
        steps, world, broken = shrink(steps, broken)
        faults[key] = as_test(steps, world, broken)
        print(faults[key], flush=True)
    hours = (time.monotonic() - started) / 3600
    print(f"\n{sequences} sequences ({sequences / hours:.0f} an hour), {steps_played} steps, {len(faults)} faults")
    possible = len(RULES) ** 2
    print(f"{len(pairs)} of {possible} pairs of rules were tried; the rarest:")
    for pair, times in pairs.most_common()[:-11:-1]:
        print(f"  {times:5} {pair[0]} then {pair[1]}")
    broken_checks = {check for check, _ in faults}
    print("held: " + ", ".join(check.__name__ for check in PROMISES if check.__name__ not in broken_checks))


if __name__ == "__main__":
    import machine

    machine.main()
