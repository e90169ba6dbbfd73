"""Decides whose answers do not count, and why: applies the rules of a study to what is known about a participant."""

from collections import Counter

from msgspec import Struct

from sociometer.web.study.records import Study

SAME_ANSWER = 0.95
FEWEST_PATTERNS = 10
MOST_MISSING = 0.1


class Facts(Struct, frozen=True):
    """What the rules look at."""

    done: int
    planned: int
    failed_checks: int = 0
    patterns: tuple[str, ...] = ()
    """How each form was filled in: which position was chosen, how points were shared."""
    seconds: tuple[float, ...] = ()


class Rule(Struct, frozen=True):
    """A rule of exclusion: a text with placeholders, and their values."""

    text: str
    values: dict[str, str | int]

    def __str__(self) -> str:
        return self.text.format(**self.values)


def exclusion_rules(study: Study) -> list[Rule]:
    """The rules of a study."""
    percent, same = round(100 * MOST_MISSING), round(100 * SAME_ANSWER)
    rules = [
        Rule("more than {percent} % of the items without an answer", {"percent": percent}),
        Rule(
            "the same answer in at least {percent} % of {count} or more questions",
            {"percent": same, "count": FEWEST_PATTERNS},
        ),
    ]
    if study.attention:
        allowed = {"allowed": study.most_failed, "count": study.attention}
        rules.append(Rule("more than {allowed} of {count} attention checks failed or skipped", {**allowed}))
    if study.fastest_seconds:
        rules.append(Rule("a median response time under {seconds} seconds", {"seconds": f"{study.fastest_seconds:g}"}))
    return rules


def reasons(study: Study, facts: Facts, *, count_missing: bool = True) -> list[str]:
    """Why a participant's answers do not count; empty if they count."""
    found = []
    missing = facts.planned - facts.done
    if count_missing and (not facts.planned or missing > MOST_MISSING * facts.planned):
        found.append(f"answered {facts.done} of {facts.planned} items")
    known = [pattern for pattern in facts.patterns if pattern]
    same = max(Counter(known).values(), default=0)
    if len(known) >= FEWEST_PATTERNS and same >= SAME_ANSWER * len(known):
        found.append(f"the same answer to {same} of {len(known)} questions")
    if study.attention and facts.failed_checks > study.most_failed:
        found.append(f"failed or skipped {facts.failed_checks} of {study.attention} attention checks")
    if study.fastest_seconds and facts.seconds and (median := _median(facts.seconds)) < study.fastest_seconds:
        found.append(f"a median response time of {median:.1f} seconds")
    return found


def _median(values: tuple[float, ...]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
