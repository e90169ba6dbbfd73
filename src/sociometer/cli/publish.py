"""`sociometer publish`: writes a run as a dataset folder for Hugging Face."""

from pathlib import Path

import click

from sociometer.cli.opening import open_stored
from sociometer.cli.options import json_option, store_option, store_path
from sociometer.cli.output import print_json, print_line
from sociometer.store.place import StorePlace


def _publish(run: str, to: Path, dataset: str, without_keys: bool, store: StorePlace | None, as_json: bool) -> None:
    from sociometer.adapters.hugging_face import publish

    with open_stored(store_path(store)) as engine:
        done = publish(engine.stored(run), to, dataset=dataset, without_keys=without_keys)
    if as_json:
        print_json(done)
        return
    for path in done.files:
        print_line(f"wrote {path}")
    if done.left_out:
        print_line(done.left_out)


command = click.Command(
    "publish",
    callback=_publish,
    params=[
        click.Argument(["run"]),
        click.Option(
            ["--to"], type=click.Path(path_type=Path, file_okay=False), required=True, help="New folder to write."
        ),
        click.Option(
            ["--dataset"],
            default="",
            metavar="OWNER/NAME",
            help="Id of the dataset on the Hub, to write .eval_results for the model's repository too.",
        ),
        click.Option(
            ["--without-keys"],
            is_flag=True,
            help="Leave out everything that reveals the right answers of held-out items.",
        ),
        store_option(),
        json_option(),
    ],
    help="Write RUN as a dataset folder (Parquet, card). Nothing is uploaded; official items are never included.",
)
