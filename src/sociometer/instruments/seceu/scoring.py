"""Outcome -> score -> summary; pure."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from sociometer.core.measure import Summary
from sociometer.core.reply_kind import count_replies
from sociometer.core.task import RunView, Score
from sociometer.instruments.seceu.items import TOTAL, Scenario
from sociometer.instruments.seceu.measures import method_measures, overall_measures
from sociometer.instruments.seceu.method_result import MethodResult, by_place, hedger
from sociometer.instruments.seceu.norm import (
    EQ_MEAN,
    PRINTED,
    PUBLISHED_NORM,
    SHUFFLED,
    Norm,
    distance,
    evenness,
    norm_of,
)
from sociometer.instruments.seceu.play import Allocated
from sociometer.instruments.seceu.prompting import DIFFERENT, PromptingMethods, compare_methods
from sociometer.instruments.seceu.tables import (
    energy_table,
    items_table,
    repairs_table,
    results_table,
    sources_table,
)

SHOWN_ITEMS = 5


def score(item: Scenario, outcome: Allocated) -> Score:
    """Return the distance to the standard, the profile similarity, the evenness, and whether it was null."""
    values = {
        "distance": distance(outcome.points, item.standard),
        "profile": profile_similarity(outcome.points, item.standard),
        "null": float(not any(outcome.points)),
    }
    even = evenness(outcome.points)
    if even is not None:
        values["evenness"] = even
    facets = {"prompting": item.prompting, "context": item.context, "direction": item.direction}
    return Score(
        values=values,
        facets={name: level for name, level in facets.items() if level},
        unreadable=int(outcome.written is None),
        replies=count_replies([outcome.how]),
    )


def profile_similarity(points: Sequence[float], standard: Sequence[float]) -> float:
    """Return Pearson's r over the options; 0 for a flat answer, which does not say which feeling is stronger."""
    one, two = np.asarray(points) - np.mean(points), np.asarray(standard) - np.mean(standard)
    scale = float(np.linalg.norm(one) * np.linalg.norm(two))
    return float(np.clip(one @ two / scale, -1, 1)) if scale > 1e-9 else 0.0


def summarise(run: RunView[Scenario, Allocated]) -> Summary:
    """Return distances for every run; EQ, percentiles and pattern similarity if there is a human norm."""
    norm = norm_of(run.norm)
    methods = compare_methods(run, norm)
    first = methods.headline or next(iter(methods.results), None)
    even = hedger(first, norm) if first is not None else None
    measures = list(overall_measures(methods, even, norm))
    if len(methods.results) > 1:
        measures += [measure for result in methods.results for measure in method_measures(methods.view, result, norm)]
    tables = [results_table(methods, even, norm)] if even is not None else []
    if even is not None and (energies := energy_table(methods, even, norm)) is not None:
        tables.append(energies)
    if methods.headline is not None:
        sources = sources_table(methods.headline, norm)
        tables += [sources] if sources is not None else []
        tables += [items_table(methods.headline, norm, SHOWN_ITEMS), repairs_table(Counter(methods.headline.readings))]
    return Summary(
        tuple(measures),
        tuple(tables),
        tuple(notes(run, methods, even, norm)),
        series(_all_results(methods), methods.headline, even, norm),
    )


def _all_results(methods: PromptingMethods) -> tuple[MethodResult, ...]:
    return methods.results if methods.pooled is None else (methods.pooled, *methods.results)


def notes(
    run: RunView[Scenario, Allocated], methods: PromptingMethods, even: MethodResult | None, norm: Norm | None
) -> list[str]:
    """Return the notes for the numbers."""
    if even is None:
        return ["Nothing was scored."]
    said = [*_key_notes(even, norm), *_order_notes(run, norm)]
    if norm is not None and methods.headline is not None and methods.headline.items < len(norm.standards):
        said.append(
            f"EQ estimated from {methods.headline.items} of {len(norm.standards)} items, "
            "by their difference from people's mean distances on the same items."
        )
    said += _place_note(run, even, norm)
    said += _method_notes(methods)
    said += [
        f"FAILED ({result.method}): {result.nulls:g} of {result.items} answers contain no allocation."
        for result in methods.results
        if result.failed
    ]
    return said


def _key_notes(even: MethodResult, norm: Norm | None) -> list[str]:
    """The source of the standard, and the score of an even allocation."""
    if norm is None:
        return [
            "The key of these stories is our own judgement, not a human norm: there are distances and "
            "similarities, but no EQ.",
            f"An even allocation has a distance of {even.score:.2f}.",
        ]
    said = [f"Norm: {norm.name}, {norm.sample}."]
    if even.eq is not None and even.eq > EQ_MEAN:
        said.append(
            f"An even allocation earns an EQ of {even.eq:.0f}, more than the average person: this norm rewards hedging."
        )
    elif even.eq is not None:
        said.append(f"An even allocation earns an EQ of {even.eq:.0f}.")
    if not norm.allocations:
        said.append("The norm has only people's means, so answers are not compared with the distribution of people.")
    if norm.error_of_measurement is not None:
        said.append(f"People's standard error of measurement is {norm.error_of_measurement:.1f} EQ points.")
    return said


def _order_notes(run: RunView[Scenario, Allocated], norm: Norm | None) -> list[str]:
    """What an EQ can be compared with if the order of the feelings was shuffled for the subject or for people."""
    shuffled = run.settings.flag("shuffle")
    if norm is None or (not shuffled and norm.order != SHUFFLED):
        return []
    if not shuffled:
        return [
            "The people of the norm saw the feelings in random order, the subject in the printed one. Add --shuffle for"
            " an EQ that is comparable with theirs."
        ]
    if norm.order == SHUFFLED:
        return ["The subject saw the feelings in random order, as the people of the norm did."]
    saw = "in the printed order" if norm.order == PRINTED else "in an order that the norm does not state"
    return [
        f"The subject saw the feelings in random order, the people of the norm {saw}: this EQ is comparable with other"
        f" runs with --shuffle on these items, not with {_others(norm)}."
    ]


def _others(norm: Norm) -> str:
    return "published EQs or with runs without it" if norm.name == PUBLISHED_NORM else "runs without it"


def _place_note(run: RunView[Scenario, Allocated], even: MethodResult, norm: Norm | None) -> list[str]:
    """A note if the order of the options reveals their strength and the options were shown in that order."""
    unread = by_place(even, norm)
    if run.settings.flag("shuffle") or unread.score >= even.score:
        return []
    first = sum(answer.standard[0] == max(answer.standard) for answer in even.answers)
    earned = f"an EQ of {unread.eq:.0f}" if unread.eq is not None else f"a distance of {unread.score:.2f}"
    return [
        f"Writing 4, 3, 2, 1 without reading earns {earned}: the first feeling is the strongest in {first} of "
        f"{even.items} items. --shuffle prevents this."
    ]


def _method_notes(methods: PromptingMethods) -> list[str]:
    """The headline method, and the scenarios on which the methods are compared."""
    if not methods.several:
        return []
    said: list[str] = []
    shown = methods.headline
    if shown is None:
        said.append(f"{methods.headline_note[0].upper()}{methods.headline_note[1:]}.")
    elif methods.best:
        count = len(methods.results)
        said.append(
            f"'{shown.method}' is the best of {count} prompting methods; choosing the best overstates the score."
        )
    elif shown is methods.pooled:
        said.append(
            f"Numbers without a group are means over {shown.wordings} wordings of the direct prompt; their intervals"
            " cover stories and wordings."
        )
    else:
        said.append(
            f"Numbers without a group are for '{shown.method}'; the table of results shows every prompting method."
        )
    if not methods.comparable:
        said.append(DIFFERENT)
    elif methods.left_out:
        said.append(
            f"The methods are compared on the {methods.shared} stories played with all of them; "
            f"{methods.left_out} are left out."
        )
    return said


def _unread(even: MethodResult, norm: Norm | None) -> dict[str, float | None]:
    """The score of writing 4, 3, 2, 1 without reading."""
    found = by_place(even, norm)
    return {"distance": found.score, "eq": found.eq, "similarity": found.similarity}


def series(
    results: Sequence[MethodResult], shown: MethodResult | None, even: MethodResult | None, norm: Norm | None
) -> dict[str, object]:
    """Return the data for figures beyond the measures."""
    if shown is None or even is None:
        return {}
    ranked = sorted(shown.answers, key=lambda answer: answer.distance)
    picked = ranked if len(ranked) <= 2 * SHOWN_ITEMS else ranked[:SHOWN_ITEMS] + ranked[-SHOWN_ITEMS:]
    made: dict[str, object] = {
        "prompting": shown.method,
        "patterns": {result.method: result.pattern for result in results},
        "profiles": [
            {
                "scenario": answer.scenario,
                "story": answer.story,
                "options": list(answer.options),
                "given": [round(points, 4) for points in answer.points],
                "standard": list(answer.standard),
                "distance": round(answer.distance, 4),
            }
            for answer in picked
        ],
        "hedger": {"distance": even.score, "eq": even.eq, "similarity": even.similarity},
        "by_place": _unread(even, norm),
        "total": TOTAL,
    }
    if norm is not None:
        made["norm"] = {
            "name": norm.name,
            "people": norm.people,
            "mean": norm.mean,
            "deviation": norm.deviation,
            "score_below": [list(pair) for pair in norm.score_below],
            "similarity_below": [list(pair) for pair in norm.similarity_below],
            "similarity_mean": norm.similarity_mean,
            "similarity_deviation": norm.similarity_deviation,
            "template": norm.template,
            "counted": norm.counted,
        }
    return made
