"""The end of a study: thanks, the result if the study shows one, what is stored, and withdrawal."""

import asyncio

from aiohttp import web
from msgspec import Struct

from sociometer.core.card import Card
from sociometer.core.measure import Summary
from sociometer.statistics.formatting import number
from sociometer.web.guard import ADDRESS, PARTICIPANT, only, visitor_of
from sociometer.web.language import Words
from sociometer.web.rendering import see_other
from sociometer.web.study.pages import CARD, SEATS, STUDY, participant_of, study_page
from sociometer.web.study.place import Place, place_of
from sociometer.web.study.records import Shows


class ResultLine(Struct, frozen=True):
    """One number that a participant sees."""

    title: str
    value: str
    people: str
    lower: bool
    """Whether less is better."""


@only(PARTICIPANT)
async def end_page(request: web.Request) -> web.StreamResponse:
    """Thanks a participant who has answered everything."""
    participant, study, seats = participant_of(request), request.app[STUDY], request.app[SEATS]
    if not seats.finished(participant):
        return see_other("/take")
    lines: list[ResultLine] = []
    place: Place | None = None
    if study.shows != "nothing":
        summaries = await asyncio.to_thread(seats.summaries, participant)
        lines = [
            line for task, summary in summaries for line in shown_lines(summary, request.app[CARD], task, study.shows)
        ]
        if study.shows == "place":
            place = next((found for _, summary in summaries if (found := place_of(summary)) is not None), None)
    translate = Words(study.language)
    return study_page(
        request, "study_end.html", visitor=visitor_of(request), lines=lines, place=place, translate=translate
    )


def shown_lines(summary: Summary, card: Card, task: str, shows: Shows) -> list[ResultLine]:
    """The primary numbers of a task; with `place`, also those with a known value of people."""
    found = []
    for known in card.measures_of(task):
        measure = summary.measure(known.name)
        wanted = known.primary or (shows == "place" and known.human is not None)
        if wanted and measure is not None and measure.value is not None:
            human = summary.series.get("norm", {}).get(f"{known.name}_mean", known.human)
            people = number(human, known.unit) if shows == "place" and human is not None else ""
            found.append(ResultLine(known.title, number(measure.value, known.unit), people, known.better == "lower"))
    return found


@only(PARTICIPANT)
async def stored_page(request: web.Request) -> web.StreamResponse:
    """What is stored about the participant."""
    participant = participant_of(request)
    return study_page(request, "study_stored.html", visitor=visitor_of(request), about=participant.about)


@only(PARTICIPANT)
async def withdraw(request: web.Request) -> web.StreamResponse:
    """Deletes everything about the participant."""
    await request.app[SEATS].withdraw(participant_of(request))
    response = study_page(request, "study_withdrawn.html")
    response.del_cookie(request.app[ADDRESS].cookie, path="/")
    return response
