"""`sociometer store`: copies a store, and rescores, renames or deletes runs in it."""

import click

from sociometer.cli.options import json_option, open_stored, runs_argument, store_option, store_place, stored_command
from sociometer.cli.output import Display, Group, TableCommand, confirm, display_options, option, tell
from sociometer.core.errors import UsageError
from sociometer.core.words import counted
from sociometer.instruments import load
from sociometer.reporting.progress import track
from sociometer.results.choice import resolver_of
from sociometer.results.summaries import finding, raw_measures, run_json, summary_table
from sociometer.store.copying import copied_books, copy_store
from sociometer.store.place import StorePlace, file_of
from sociometer.store.studies import study_books, study_lock


def _copy(source: StorePlace, target: StorePlace, trust: bool, as_json: bool) -> None:
    with copied_books(source, target) as (beside, left_out):
        copied = copy_store(source, target, trust=trust)
    new = f"{counted(copied.runs, 'run')}, {counted(copied.episodes, 'episode')} and {counted(copied.replies, 'reply')}"
    why = "Studies and labels are copied only to a new file next to a store file."
    tell(
        as_json,
        {"from": str(source), "to": str(target), "copied": copied, "files": beside, "not_copied": left_out},
        f"Copied {source} to {target}. New there: {new}.",
        *(f"wrote {name}" for name in beside),
        *(f"Not copied: {name}. {why}" for name in left_out),
    )


def _rescore(runs: tuple[str, ...], store: StorePlace | None, display: Display) -> None:
    with open_stored(store) as engine:
        stored = [result for run in runs for result in resolver_of(engine.store, load).results(run)]
        able = [(run, task) for run in stored for task in run.tasks]
        if not able:
            why = dict.fromkeys(f"{run.reference} was {why}" for run in stored for why in run.past.values())
            raise UsageError(f"nothing can be rescored: {'; '.join(why)}.")
        for one, task in track(able, "rescoring"):
            one.rescore(task)
        display.show(
            [summary_table(run) for run in stored],
            finding="\n".join(finding(run) for run in stored),
            files=[raw_measures(stored)],
            data=[run_json(run) for run in stored],
        )


def _rename(run: str, name: str, store: StorePlace | None, as_json: bool) -> None:
    with open_stored(store) as engine:
        old = engine.resolver.parts(run)[0].subject
        if engine.store.names.entry(old) is None:
            raise UsageError(f"'{run}' measures no model, so there is no name to change.")
        if name != old:
            engine.naming.check_free(name)
            engine.store.runs.rename_subject(old, name)
    tell(as_json, {"from": old, "name": name}, f"{old} is now called {name}.")


def _delete(runs: tuple[str, ...], yes: bool, store: StorePlace | None, as_json: bool) -> None:
    with open_stored(store) as engine:
        path = engine.store.path
        known = {name: book.participants(name) for book in study_books(path) for name in book.names() if name in runs}
        people = {name: counted(len(everyone), "participant") for name, everyone in known.items()}
        records = engine.resolver.parts_of(run for run in runs if run not in people)
        what = ", ".join(
            [
                *(f"study {name} with {count} and all they answered" for name, count in people.items()),
                *(f"{one.id} ({one.subject} on {one.instrument})" for one in records),
            ]
        )
        confirm(what, yes)
        for name in people:
            with study_lock(file_of(path, "a study"), name):
                engine.store.delete_study(name)
        for record in records:
            with engine.store.hold(record.id):
                engine.store.runs.delete(record.id)
    kept = " The replies stay in the journal and are reused by later runs." if records else ""
    kept += " Files that were exported or copied before are not changed." if people else ""
    tell(as_json, {"deleted": [*people, *(record.id for record in records)]}, f"Deleted {what}.{kept}")


command = Group(
    "store",
    commands=[
        click.Command(
            "copy",
            callback=_copy,
            params=[
                click.Argument(["source"], type=store_place, metavar="FROM"),
                click.Argument(["target"], type=store_place, metavar="TO"),
                option(
                    "--trust",
                    "Use the copied replies and runs for your own commands too, as if they were made"
                    " here. Without it, copied replies answer only the runs that were copied with them.",
                    is_flag=True,
                ),
                json_option(),
            ],
            help="Copy the store FROM into the store TO, which keeps its own contents; each is a file or"
            " postgresql://USER@HOST/DATABASE. Runs in progress continue.",
        ),
        TableCommand(
            "rescore",
            callback=_rescore,
            params=[runs_argument(required=True), store_option(), *display_options()],
            help="Recompute the scores of RUN… from stored outcomes. Calls no model and reads no data file.",
        ),
        stored_command(
            "rename",
            _rename,
            "Call the model of RUN by NAME, in every command and table, also after --name.",
            click.Argument(["run"]),
            click.Argument(["name"]),
        ),
        stored_command(
            "delete",
            _delete,
            "Delete RUN… with its items, episodes and scores, or a study with all that"
            " its participants answered, after a question.",
            runs_argument(required=True),
            option("--yes", "Do not ask.", is_flag=True),
        ),
    ],
    help="Copy a store; rescore, rename or delete runs in it; delete studies.",
)
