"""`sage people`, `sage ranking` and `sage style`: what people reported, and what stored simulators made of it."""

from sociometer.core.command import CommandContext
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import Result
from sociometer.core.settings import Settings
from sociometer.instruments.sage.passport import ranking as rankings
from sociometer.instruments.sage.passport import simple_judges
from sociometer.instruments.sage.passport import style as styles
from sociometer.instruments.sage.passport.examining import study_talks
from sociometer.instruments.sage.passport.people import answers_by_simulator, people_probes


def people(context: CommandContext, options: Settings) -> Result:
    """What the people of a study reported: the floor, the ceiling, and what simple rules reach; asks no model."""
    study = options.text("study")
    talks = study_talks(context, study)
    turns = sum(len(person_talk.talk.reports) for person_talk in talks)
    probes = people_probes(study, talks, turns, 0, context.seed)
    if not probes:
        raise UsageError(f"study {study} has no turn with a person's own report.")
    tables = (simple_judges.floor_table(probes), simple_judges.table(probes))
    return Result(tables=tables)


def ranking(context: CommandContext, options: Settings) -> Result:
    """The ranking of the models by the people of a study, and by simulators on the talks that they judged."""
    study = options.text("study")
    talks = study_talks(context, study)
    by_people = rankings.rank("people", rankings.means_of_people(talks))
    runs = [context.run(name) for name in options.texts("runs")]
    compared = [by_people]
    sentences: list[str] = []
    notes: list[str] = []
    for simulator, rows in answers_by_simulator(runs).items():
        theirs, mine, unreadable = rankings.means_of_answers(rows)
        same_talks = rankings.rank(f"people on the talks of {simulator}", theirs)
        judged = rankings.rank(simulator, mine)
        compared += [same_talks, judged]
        sentences.append(rankings.agreement_sentence(rankings.agree(by_people, judged), simulator))
        if unreadable:
            notes.append(f"{simulator}: {unreadable} unreadable answers count as its mean.")
    if not runs:
        command = hint("sage passport --people", study, "--role", "simulator=MODEL")
        notes.append(f"No simulator was given. {command} prints the runs to name here.")
    tables = (rankings.ranking_table(compared), rankings.pairs_table(compared))
    return Result(tables=tables, finding="\n".join(sentences), notes=tuple(notes))


def style(context: CommandContext, options: Settings) -> Result:
    """What people write against what simulators write in the same position, in one table; shows no text."""
    runs = [context.run(name) for name in options.texts("runs")]
    compared_styles = []
    for simulator, rows in answers_by_simulator(runs).items():
        compared = styles.compare_style(simulator, rows)
        if compared is not None:
            compared_styles.append(compared)
    if not compared_styles:
        raise UsageError("these runs have no words of a simulator; 'sage passport --people' asks for them (--words).")
    return Result(tables=(styles.table(compared_styles),))
