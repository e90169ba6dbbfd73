"""Small runs in memory, for tests of comparisons."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from sociometer.core.card import Card, MeasureCard, Paper, RoleCard, TaskCard
from sociometer.core.form import Form, norm_digest, read_settings
from sociometer.core.measure import Summary
from sociometer.core.settings import Setting, Settings
from sociometer.core.task import Episode, Failure, Item, RunView, Score


class Said(Struct, frozen=True):
    letter: str = "A"


class Question(Item, frozen=True, kw_only=True):
    text: str = "?"


def card(unit="share", better="higher", version="1", value="correct", **more) -> Card:
    measure = MeasureCard(
        "questions",
        "accuracy",
        "Accuracy",
        unit,
        better=better,
        chance=0.25,
        top=1.0,
        primary=True,
        value=value,
        **more,
    )
    return Card(
        "tact",
        "Tact test",
        version,
        "tact",
        "questions",
        (TaskCard("questions", "Questions"),),
        (RoleCard("subject", "who is measured"),),
        (measure,),
        Paper("On tact", "A. Author", 2020),
    )


def fake_run(
    label: str,
    values: Sequence[float | None],
    *,
    clusters: Sequence[str] | None = None,
    facets: Sequence[Mapping[str, str]] | None = None,
    of: Card | None = None,
    roles: Mapping[str, str] | None = None,
    norm=None,
    texts: str = "?",
    stand_ins: Sequence[str] = (),
    repeats: int = 1,
    settings: Mapping[str, str] | None = None,
    version: str = "",
    unreadable: Sequence[int] = (),
) -> RunView:
    """A run whose item i has values[i]; None is a failed episode. Repeats of an item are consecutive."""

    def episodes():
        for place, value in enumerate(values):
            number, repeat = divmod(place, repeats)
            item = Question(id=f"q{number}", cluster=clusters[number] if clusters else "", text=texts)
            if value is None:
                yield Episode(item, repeat, None, None, Failure("timeout", "no answer"))
            else:
                its, lost = dict(facets[number]) if facets else {}, unreadable[place] if unreadable else 0
                score = Score(values={"correct": float(value)}, facets=its, unreadable=lost)
                yield Episode(item, repeat, Said(), score, None)

    chosen = of or card()
    declared = {one.name for one in chosen.setting}
    more = tuple(Setting(name, "") for name in settings or {} if name not in declared)
    asked = structs.replace(chosen, setting=(*chosen.setting, *more))
    language, apart, others = read_settings(asked, "questions", dict(settings or {}), {}, official=False)
    form = Form(
        test=chosen.name,
        task="questions",
        version=version or chosen.version,
        language=language,
        apart=apart,
        settings=others,
        roles={role: name for role, name in (roles or {}).items() if role != "subject"},
        norm=norm_digest(norm),
    )
    return RunView(
        episodes,
        Settings(dict(settings or {})),
        form=form,
        subject=label,
        roles=roles or {"subject": label},
        norm=norm,
        run=label,
        stand_ins=stand_ins,
        name=label,
        task="questions",
        card=chosen,
        version=version,
    )


def summarised_run(run: str, task: str, subject: str, settings: Mapping, summary: Summary, stand_ins=(), **more):
    """A run without episodes, as figures get it."""
    facts = {"subject": subject, "name": subject, "run": run, "task": task, "summary": summary, "stand_ins": stand_ins}
    return RunView(lambda: iter(()), Settings(settings), **facts | more)
