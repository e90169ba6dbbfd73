"""Whose answers do not count, and why: the rules that a study states, applied to what is known of a participant."""

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
    """How each form was filled in: which place was chosen, how points were shared out."""
    seconds: tuple[float, ...] = ()


def exclusion_rules(study: Study) -> list[str]:
    """The rules of a study as sentences."""
    rules = [
        f"more than {MOST_MISSING:.0%} of the items without an answer",
        f"the same answer in at least {SAME_ANSWER:.0%} of {FEWEST_PATTERNS} or more questions",
    ]
    if study.attention:
        rules.append(f"more than {study.most_failed} of {study.attention} attention checks failed or skipped")
    if study.fastest_seconds:
        rules.append(f"a median response time under {study.fastest_seconds:g} seconds")
    return rules


def reasons(study: Study, facts: Facts, *, count_missing: bool = True) -> list[str]:
    """Why a participant's answers do not count; empty where they do."""
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
