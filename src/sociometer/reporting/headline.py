"""The title of a report, and its finding in one to three sentences."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from sociometer.core.measure import Interval
from sociometer.core.task import AnyRun
from sociometer.core.words import PART, counted, grouped, listed, lowered, plural, sentence, spelled, verb_of
from sociometer.reporting.content import Chapter, EpisodeCounts, ReportContent
from sociometer.reporting.rankings import Ranking
from sociometer.results.profile import ProfileLine, ends_sentences
from sociometer.results.runs import Rankings
from sociometer.results.verdicts import ComparedMeasure, Comparison
from sociometer.results.wording import POWER_TERMS, adjusted_for, failed_text, overall_sentence, size_text
from sociometer.statistics import formatting
from sociometer.statistics.formatting import estimate, number, other_stand_ins
from sociometer.statistics.intervals import MINIMUM_CLUSTERS

NAMED = 3
"""A title names at most this many subjects."""
MOST_SENTENCES = 3
NO_MODELS = ("baseline/", "scripted/", "python/", "human")


def title_of(content: ReportContent) -> str:
    """Who was measured on what: “a and b on SAGE”, “12 models on five instruments”."""
    content = content.main
    names = [(subject, content.names[subject]) for subject in content.subjects]
    who = list(dict.fromkeys(name if subject.startswith(name) else subject for subject, name in names))
    cards = [chapter.card for chapter in content.chapters]
    on = listed([card.short_title for card in cards]) if len(cards) < NAMED else spelled(len(cards), "instrument")
    if len(who) <= NAMED:
        title = f"{listed(who)} on {on}"
        return f"P{title[1:]}" if title.startswith("people (") else title
    models = [content.models.get(subject, name) for subject, name in names]
    noun = "subject" if any(model.startswith(NO_MODELS) for model in models) else "model"
    return f"{spelled(len(who), noun).capitalize()} on {on}"


def findings_of(content: ReportContent) -> tuple[str, ...]:
    """The result in at most three sentences; the last one names what the numbers cannot show.

    Beside people on several tests, it is one sentence for each test.
    """
    # a test that others took without a stand-in is about these
    able = [[run for run in one.results if not other_stand_ins(run.stand_ins)] for one in content.main.chapters]
    pairs = zip(content.main.chapters, able, strict=True)
    measured = [structs.replace(one, results=tuple(runs or one.results)) for one, runs in pairs]
    named, content = content.subjects, content.main.part(measured)
    models, sets = _models(content), {line.item_set for line in content.profile}
    others = grouped((one.second, one) for one in content.comparisons) if content.crowds else {}
    # a model alone among baselines wins no contest
    contests = [one for one in content.rankings if sum(each.subject in models for each in one.standings) > 1]
    contests = contests or [one for one in content.rankings if not one.standings]
    if others and len(content.chapters) > 1:
        said = [(one.card.short_title, findings_of(content.part([one]))[0]) for one in content.chapters]
        return tuple(f"{on}: {text if text.startswith(content.subjects) else lowered(text)}" for on, text in said)
    if len({one.where for one in content.comparisons}) == 1 and others:
        found = _against_people(content)
    elif len(others) > 1:
        names = {name: name + " (stand-in)" * (name in _stand_ins(content)) for name in others}
        told = ([structs.replace(one, second=names[name]) for one in mine] for name, mine in others.items())
        found = ["; ".join(_two_subjects(mine, content.profile)[0] for mine in told)]
    elif len(models) == 1:
        found = _one_subject(models[0], content)
    elif contests:
        found = _many_subjects(contests, content.profile)
        sets = {contests[0].item_set} if len(contests) == 1 else sets
        if len(contests) == 1 and (len(content.rankings) > 1 or contests[0].company):
            name = ", ".join(filter(None, (contests[0].title, contests[0].company, contests[0].item_set)))
            found = [f"{name}: {found[0]}", *found[1:]]
    elif content.comparisons:
        found = _two_subjects(content.comparisons, content.profile)
    else:
        alone = [text for one in models if len(models) <= NAMED for text in _one_subject(one, content)]
        who = "models" if content.baselines else "subjects"
        found = ["; ".join([f"no task has comparable scores of two {who}", *alone])]
    if len(sets) == 1 and (items := sets.pop()) not in found[0]:
        found[0] = f"on {items}, {found[0]}"
    ends = [line for line in content.profile if line.subject in models]
    if " are both at " not in found[0] and (len(models) > 1 or any(one.end and one.end.at == "top" for one in ends)):
        place = 2 if len(content.rankings) > 1 else 1
        found[place:place] = ends_sentences(ends, _titles(content))
    if content.baselines.issuperset(models):
        what = "is a baseline" if len(models) == 1 else "are baselines"
        found = [f"no model was measured: {listed(models, NAMED)} {what}", *(found[1:] or found)]
    if not content.comparisons:
        found[:0] = [verdict for chapter in content.chapters for verdict in chapter.verdicts.values()]
    before, after = _caveats(content, models, read=not any(" be read" in text for text in found))
    kept = [*before, *found[: MOST_SENTENCES - len(before + after)], *after]
    return tuple(sentence(text, named) for text in kept)


def headlines_of(content: ReportContent) -> dict[str, str]:
    """The result of each chapter in one sentence, by instrument; a single chapter that is no sample has the finding."""
    found = {}
    for chapter in content.chapters:
        own = content.part([structs.replace(chapter, sample=False)])
        used = [name for result in chapter.results for name in other_stand_ins(result.stand_ins)]
        if chapter.sample and used:
            role, _, name = used[0].partition(": ")
            found[chapter.card.name] = f"A rehearsal: a stand-in ({name}) plays the {role}, so nothing is measured."
        elif chapter.sample or len(content.main.chapters) > 1:
            said = findings_of(own)
            first = int(own.baselines.issuperset(own.subjects) and len(said) > 1)
            told = said if len(own.comparisons) == 1 else said[first : first + 1]
            caveats = (sentence(one, content.subjects) for one in [chapter.caveat] if one)
            found[chapter.card.name] = " ".join(dict.fromkeys((*told, *caveats)))
    return found


def _titles(content: ReportContent) -> dict[tuple[str, str], str]:
    """The title of each task; that of its test if it is the only one."""
    tests = [(one.card, [*dict.fromkeys(run.task for run in one.results)]) for one in content.chapters]
    return {(card.name, one): card.task_title(one) if of[1:] else card.short_title for card, of in tests for one in of}


def _models(content: ReportContent) -> Sequence[str]:
    """The subjects that the finding is about: without baselines and stand-ins, if there are others."""
    if any(result.people for chapter in content.chapters for result in chapter.results):
        return content.subjects  # people are compared with what there is
    others = [subject for subject in content.subjects if subject not in content.baselines]
    standing_in = _stand_ins(content)
    return [subject for subject in others if subject not in standing_in] or others or content.subjects


def _stand_ins(content: ReportContent) -> frozenset[str]:
    """The subjects that are stand-ins or baselines."""
    results = [result for chapter in content.chapters for result in chapter.results]
    return content.baselines | {result.subject for result in results if formatting.subject_stand_in(result.stand_ins)}


def _one_subject(who: str, content: ReportContent) -> list[str]:
    """A sentence for each measure if they are two at most; else how many are better than chance, worse than people."""
    lines = [line for line in content.profile if line.subject == who and line.value is not None]
    normed = {(line.run, line.task) for line in lines if line.on_norm}
    scored = [line for line in lines if line.on_norm or (line.run, line.task) not in normed]
    if not scored:
        return [f"nothing of {who} was scored"]
    titles = _titles(content)
    on = {task: f" on {title}" * (len(titles) > 1) for task, title in titles.items()}
    each = [text for line in scored for text in _against_references(line, on[line.instrument, line.task])]
    if len(scored) == 1 or len(each) < MOST_SENTENCES:
        return each
    sure = [line for line in scored if line.interval is not None and line.interval.low is not None]
    found = []
    for word, sign, name in (("better than chance", 1, "chance"), ("worse than people", -1, "human")):
        known = [(line, at) for line in sure if (at := getattr(line, name)) is not None]
        many = len(known)
        count = sum(line.against(at, many) == sign for line, at in known)
        unsure = sum(structs.replace(line, errors=0, cases=()).against(at, many) == sign for line, at in known) - count
        could = f"; failed episodes leave {counted(unsure, 'more', 'more')} open" if unsure > 0 else ""
        if many == 1:
            found += _against_references(known[0][0], on[known[0][0].instrument, known[0][0].task])
        elif known:
            found.append(f"{who} {verb_of(who)} {word} on {count or 'none'} of {counted(len(known), 'measure')}{could}")
    if len(sure) < len(scored):
        without = ((line.measure_title, line.interval, line.cluster) for line in scored if line not in sure)
        found.append(_few([(title, one.scarce(part) if one else part) for title, one, part in without]))
    return found or [f"{who} was scored on {counted(len(scored), 'measure')}"]


def _against_people(content: ReportContent) -> list[str]:
    """The verdict on each other subject, of three with its place among people, and who gave no answers."""
    lines = {line.run: line for line in content.profile if line.unread}
    verdicts, unread, stand_ins = list[tuple[str, str, str]](), list[str](), _stand_ins(content)
    for one in sorted(content.comparisons, key=lambda one: one.second in stand_ins):
        if one.second in stand_ins:
            one = structs.replace(one, second=f"{one.second} (stand-in)")
            one = structs.replace(one, sentence=overall_sentence(one))
        if line := lines.get(one.second_run):
            unread.append(_unread([line], one.second))
        else:
            said = one.sentence if one.refused else _one_task(one, sized=not verdicts)[0]
            place = re.search(r" is (better than [\d.,]+ of [\d,]+) (?:person|people), ", " ".join(one.notes))
            verdicts.append((one.verdict, one.second, said.removesuffix(".") + (f"; {place[1]}" if place else "")))
    if not verdicts:
        return [listed(unread), *_one_subject(content.comparisons[0].first, content)]
    rest = grouped((verdict, name) for verdict, name, _ in verdicts[NAMED:])
    more = [f"{verdict}: {listed(names, 2 * NAMED)}" for verdict, names in rest.items()]
    adjusted = "".join(f" ({lowered(one.removesuffix('.'))})" for one in adjusted_for(content.comparisons))
    return ["; ".join([". ".join(said for _, _, said in verdicts[:NAMED]) + adjusted, *more, *unread[:NAMED]])]


def _unread(lines: Sequence[ProfileLine], who: str) -> str:
    """How much of some tasks cannot be read, as a clause; an item with several questions can have more than one."""
    lost, of = sum(line.unread_items for line in lines), sum(line.items for line in lines)
    if all(line.unreadable == line.unread_items for line in lines):
        return f"{lost} of {counted(of, 'answer')} of {who} cannot be read"
    return f"{lost} of {counted(of, 'item')} of {who} have an answer that cannot be read"


def _against_references(line: ProfileLine, on: str) -> list[str]:
    """A score, compared with chance and people."""
    people = "the people of the norm" if line.on_norm else "people"
    known = [(name, at) for name, at in (("chance", line.chance), (people, line.human)) if at is not None]
    title, _, kind = lowered(line.measure_title).partition(", ")
    score = f"the {title}{f' ({kind})' if kind else ''} of {line.subject}{on} is"
    score += f" {estimate(line.value, line.unit, line.bounds)}"
    could = f", {line.with_failed}" if line.errors else ""
    if line.unread:
        return [_unread([line], line.subject + on)]
    if not known or (line.errors and not line.cases):
        return [score + could]
    if line.bounds is None or line.bounds.low is None:
        return [f"{score} ({', '.join(f'{name} {number(at, line.unit)}' for name, at in known)}){could}"]
    said = listed([f"{_AGAINST[line.against(at)]} {name} ({number(at, line.unit)})" for name, at in known])
    if not line.errors:
        return [f"{score}, {said}"]
    around = [line.bounds, *(case.interval for case in line.cases)]
    low, high = min(one.low for one in around if one.low is not None), max(one.high or 0.0 for one in around)
    widest = formatting.bracketed_interval(Interval(low, high, apart=line.bounds.apart), line.unit)
    return [f"{score} without the {line.errors} failed, in {widest} with them at their worst and at their best: {said}"]


_AGAINST = {1: "better than", -1: "worse than", 0: "not clearly different from"}


def _two_subjects(comparisons: Sequence[Comparison], profile: Sequence[ProfileLine]) -> list[str]:
    first, second = comparisons[0].first, comparisons[0].second
    if len(comparisons) == 1:
        norm = comparisons[0].norm_scores.items()
        ends = (_ends_sentence(name, values, (first, second)) for name, values in norm)
        said, *more = _one_task(comparisons[0])
        return [said, *_shared_values(comparisons[0], profile), *more, *comparisons[0].unread, *ends]
    overall = [(one, row) for one in comparisons if (row := _overall(one)) is not None]
    rows = [row for _, row in overall]
    verdicts = {one: [row for row in rows if row.verdict == one] for one in ("better", "worse", "equivalent")}
    total = counted(len(comparisons), "task")
    few = [
        (one.task_title, row.paired.interval.scarce(one.cluster)) for one, row in overall if row.verdict == "too few"
    ]
    if not rows:
        return [f"there is no verdict on {second} against {first}"]
    if len(few) == len(rows):
        what = "people" if {noun for _, noun in few} == {"person"} else f"{PART}s"
        least = f"every task has fewer than {MINIMUM_CLUSTERS} {what}"
        return [f"this sample is too small to compare {second} with {first}: {least}"]
    parts = [f"{word} on {len(of)}" for word, of in verdicts.items() if of and word != "equivalent"]
    if verdicts["equivalent"]:
        parts.append(f"the same within the margin on {len(verdicts['equivalent'])}")
    none = f"no task shows a difference between {second} and {first}"
    found = [f"compared with {first}, {second} {verb_of(second)} {listed(parts)} of {total}" if parts else none]
    if doubtful := sum(bool(row.with_failed) for row in rows):
        found.append(f"failed items could change the verdict on {doubtful} of {total}")
    if few:
        found.append(_few(few))
    return found


def _shared_values(comparison: Comparison, profile: Sequence[ProfileLine]) -> list[str]:
    """The values of two subjects on the items that both have, if one of them has more, as the chart shows."""
    row = _overall(comparison)
    lines = [line for line in profile if (line.instrument, line.task) == (comparison.instrument, comparison.task)]
    if row is None or all(line.items <= row.paired.items for line in lines if line.measure == row.name):
        return []
    values = [number(one, row.unit, interval=row.paired.interval) for one in (row.paired.first, row.paired.second)]
    told = _ends_sentence(row.title, values, (comparison.first, comparison.second))
    return [f"on the {counted(row.paired.items, 'item')} that both have, {told}"]


def _one_task(comparison: Comparison, *, sized: bool = False) -> list[str]:
    """The verdict on the task that two subjects share, if wanted with the number of items."""
    row = _overall(comparison)
    if row is None or row.verdict not in ("cannot tell", "too few"):
        said = comparison.sentence.split("; ")[0].replace(f" ({POWER_TERMS}, with the spread of these runs)", "")
        return [f"on {counted(row.paired.items, 'item')}, {said}" if row and sized else said]
    first, second = comparison.first, comparison.second
    if row.verdict == "too few":
        items = counted(row.paired.clusters, row.paired.interval.scarce(comparison.cluster))
        return [f"with {items}, {second} and {first} cannot be compared; at least {MINIMUM_CLUSTERS} are needed"]
    seen = f"{second} {verb_of(second)} {size_text(row, first)}{failed_text(row)}"
    found = [f"{counted(row.paired.items, 'item')} show no clear difference in {lowered(row.title)}: {seen}"]
    if row.detectable is not None and not row.why:
        size = formatting.amount(row.detectable, row.unit, interval=row.paired.interval)
        found.append(f"these items could detect a difference of {size} or more")
    return found


def _overall(comparison: Comparison) -> ComparedMeasure | None:
    rows = [row for row in comparison.measures if not row.group and row.verdict != "no verdict"]
    return next((row for row in rows if row.primary), rows[0] if rows else None)


def _many_subjects(rankings: Sequence[Ranking], profile: Sequence[ProfileLine]) -> list[str]:
    if len(rankings) == 1:
        return _with_values(rankings[0], profile)
    if len(rankings) == 2:
        one_instrument = rankings[0].instrument == rankings[1].instrument
        names = [one.task_title if one_instrument else f"{one.title}, {one.item_set}" for one in rankings]
        clear_first = sorted(zip(names, rankings, strict=True), key=lambda one: len(one[1].leaders) != 1)
        return [f"{name.removesuffix(', ')}: {one.sentence}" for name, one in clear_first]
    told = [(one, one.contest) for one in rankings if one.contest]
    boards = tuple(contest for _, contest in told if not contest.too_few)
    knowing = any(len(one.standings) > len(contest.standings) for one, contest in told)
    found = ["without the oracle, " * knowing + Rankings(boards).firsts] if boards else []
    if few := [(one.task_title, one.cluster) for one, contest in told if contest.too_few]:
        found.append(_few(few))
    return found or ["no subject can be ranked"]


def _with_values(ranking: Ranking, profile: Sequence[ProfileLine]) -> list[str]:
    """The sentence of a ranking, and the values of the first and the last, on a norm of people if there is one."""
    found = [ranking.sentence]
    if ranking.contest and not ranking.contest.too_few:
        models = [standing for standing in ranking.standings if standing.subject not in ranking.baselines]
        told = models if len(models) > 1 else ranking.standings
        ends, of = (told[0], told[-1]), (ranking.instrument, ranking.task, ranking.item_set)
        lines = (line for line in profile if (line.instrument, line.task, line.item_set) == of and line.on_norm)
        norm = {line.subject: line for line in lines if line.value is not None}
        title, names = ranking.measure, [end.subject for end in ends]
        values = [estimate(end.value, ranking.unit, end.interval) for end in ends]
        if all(name in norm for name in names):
            title = norm[names[0]].measure_title
            values = [estimate(norm[name].value, norm[name].unit, norm[name].interval) for name in names]
        else:
            mine = [line for line in profile if (line.instrument, line.task) == of[:2] and line.subject in names]
            title += f" on {ends[0].items} shared items" * any(line.items > ends[0].items for line in mine)
        found.append(_ends_sentence(title, values, names))
    return found


def _ends_sentence(title: str, values: Sequence[str], subjects: Sequence[str]) -> str:
    """The values of two subjects."""
    return f"the {lowered(title)} is {values[0]} with {subjects[0]} and {values[1]} with {subjects[1]}"


def _few(tasks: Sequence[tuple[str, str]]) -> str:
    """Which tasks or measures have too few stories, trees or other independent parts."""
    kinds = {plural(cluster) for _, cluster in tasks}
    parts = kinds.pop() if len(kinds) == 1 else f"{PART}s"
    who = listed([f"“{title}”" for title, _ in tasks], NAMED)
    return f"{who} {'has' if len(tasks) == 1 else 'have'} fewer than {MINIMUM_CLUSTERS} {parts}, too few for a verdict"


def _caveats(content: ReportContent, models: Sequence[str], *, read: bool) -> tuple[list[str], list[str]]:
    """What comes before the numbers, that a stand-in played a part, and after them, what they cannot show."""
    played = [(one.card.short_title, result.stand_ins) for one in content.main.chapters for result in one.results]
    if standing_in := list(dict.fromkeys(where for where, stand_ins in played if other_stand_ins(stand_ins))):
        was, its = ("was", "its") if len(standing_in) == 1 else ("were", "their")
        return [f"{listed(standing_in)} {was} played with a stand-in, so {its} scores are not a measurement"], []
    unread = (line for line in content.profile if line.subject in models and line.unread)
    many = {(line.run, line.task): line for line in unread}.values()  # a task can have two primary measures
    if many and read:
        told, titles = list[str](), _titles(content)
        for (who, test), lines in grouped(((one.subject, one.title.partition(":")[0]), one) for one in many).items():
            tasks = [f"“{title}”" for one in lines if (title := titles[one.instrument, one.task]) != test]
            on = f" on {test}{f' ({listed(tasks, NAMED)})' if tasks else ''}" * (len(titles) > 1)
            told.append(_unread(lines, who + on))
        more = f" (the same holds for {counted(len(told) - NAMED, 'other')})" * (len(told) > NAMED)
        return [], [listed(told[:NAMED]) + more]
    one_test = len(content.chapters) == 1  # of several tests, each stands next to its own numbers
    return [], [chapter.caveat for chapter in content.chapters if chapter.caveat and one_test]


def troubles(content: ReportContent) -> tuple[str, ...]:
    """One sentence for each kind of failure and unreadable reply, and for subjects that are stand-ins."""
    found = [line for chapter in content.chapters for line in _unfinished(chapter)]
    results = [(chapter.card.short_title, result) for chapter in content.chapters for result in chapter.results]
    found += [*_failures(results, content.counts), *_unreadable(results, content.counts)]
    if names := dict.fromkeys(result.subject for _, result in results if formatting.subject_stand_in(result.stand_ins)):
        what = "is a stand-in" if len(names) == 1 else "are stand-ins"
        found.append(f"{listed(list(names), NAMED)} {what}: a script, a baseline or a very small model.")
    return tuple(found)


def _unfinished(chapter: Chapter) -> Iterator[str]:
    ended = (result for result in chapter.results if result.status != "finished")
    kinds = dict.fromkeys(((result.status, result.why_ended), result.subject) for result in ended)
    for (status, why), who in grouped(kinds).items():
        runs, are = ("run", "is") if len(who) == 1 else ("runs", "are")
        state = status if status == "failed" else f"{are} {status}"
        said = f"the {runs} of {listed(who, NAMED)} {state}" + (f" ({why})" if why else "")
        yield f"{chapter.card.short_title}: {said}; the numbers are provisional."


def _failures(results: Sequence[tuple[str, AnyRun]], counts: Mapping[tuple[str, str], EpisodeCounts]) -> Iterator[str]:
    """One sentence for each subject with failures; one for all of them if they are many."""
    for who, members in _by_subject([entry for entry in results if counts[entry[1].run, entry[1].task].failed]):
        kinds, places, total = Counter[str](), Counter[str](), 0
        for where, result in members:
            found = counts[result.run, result.task]
            kinds.update(found.failed)
            places[where] += sum(found.failed.values())
            total += found.played
        lost = ", ".join(f"{kind}: {count}" for kind, count in sorted(kinds.items()))
        failed = f"{kinds.total():,} of {counted(total, 'episode')} failed and have no score ({lost})"
        yield f"{who}: {failed}{_in_places(places)}."


def _unreadable(
    results: Sequence[tuple[str, AnyRun]], counts: Mapping[tuple[str, str], EpisodeCounts]
) -> Iterator[str]:
    for who, members in _by_subject([entry for entry in results if counts[entry[1].run, entry[1].task].unreadable]):
        places = Counter[str]()
        for where, result in members:
            places[where] += counts[result.run, result.task].unreadable
        one, many = "its score is that of an unreadable reply", "they are scored as unreadable replies"
        score = one if places.total() == 1 else many
        yield f"{who}: {counted(places.total(), 'reply', 'replies')} could not be read; {score}{_in_places(places)}."


def _by_subject(results: Sequence[tuple[str, AnyRun]]) -> Iterator[tuple[str, list[tuple[str, AnyRun]]]]:
    """The results of each subject with its name; those of many subjects together."""
    names = list(dict.fromkeys(result.subject for _, result in results))
    if len(names) > NAMED:
        yield f"{counted(len(names), 'subject')} ({listed(names, NAMED)})", list(results)
        return
    for name in names:
        yield name, [entry for entry in results if entry[1].subject == name]


def _in_places(places: dict[str, int]) -> str:
    """The instruments and their counts, if there are several."""
    counts = ", ".join(f"{name} {count}" for name, count in places.items())
    return f". By instrument: {counts}" * (len(places) > 1)
