"""The command `build`: from posts to a set of items on disk."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.json import encode

from sociometer.core.command import CommandContext
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.settings import Settings
from sociometer.core.sheets import write_sheet
from sociometer.instruments.sesi.build.assembly import Built, assemble, official_csv
from sociometer.instruments.sesi.build.checks import flags, length_table
from sociometer.instruments.sesi.build.composition import set_figures
from sociometer.instruments.sesi.build.posts import DEMO, RawPost, Rejection, filter_posts, read_posts
from sociometer.instruments.sesi.build.review import agreement, apply_decisions, read_decisions, review_sheet
from sociometer.statistics.formatting import stand_in_notes


def build(context: CommandContext, options: Settings) -> Result:
    """Builds items from posts: every reply is journaled, so running it again asks nothing and writes the same."""
    out = Path(options.text("to"))
    found, rejected = filter_posts(_raw_posts(options))
    if not found and not rejected:
        raise UsageError("the files contain no posts; give JSON lines as in public dumps.")
    if not found:
        reasons = "; ".join(sorted({entry.reason for entry in rejected}))
        raise UsageError(f"no post passes the filters ({len(rejected)} were rejected): {reasons}.")
    limited = found[: options.whole("limit")] if options.text("limit") else found
    view = context.play("construction", items=limited).view("construction")
    built, dropped = assemble(
        [(post, draft) for post, draft, _ in view.scored()],
        builder=view.roles.get("builder", ""),
        prompts=context.source().prompts.digest(),
        seed=context.seed,
    )
    rejected += dropped
    notes = [f"{count} posts have no draft: {kind}" for kind, count in view.failures().items()]
    if len(limited) < len(found):
        notes.append(f"{len(found) - len(limited)} more posts pass the filters; --limit {len(limited)} leaves them out")
    return _write(context, options, out, built, rejected, [*notes, *stand_in_notes([view])])


def _write(
    context: CommandContext,
    options: Settings,
    out: Path,
    built: Sequence[Built],
    rejected: list[Rejection],
    notes: list[str],
) -> Result:
    items = [entry.item for entry in built]
    flagged = flags(items)
    sheet = review_sheet(items, flagged)
    if options.text("review"):
        path = Path(options.text("review"))
        decisions = read_decisions(path)
        answered, agreed = agreement(items, decisions)
        if answered:
            notes.append(f"without the key, reviewers chose the right option of {agreed} of {answered} items.")
        items, removed = apply_decisions(items, decisions, path)
        rejected += removed
        kept = {item.id for item in items}
        built = [entry for entry in built if entry.item.id in kept]
        flagged = [flag for flag in flagged if flag.item in kept]
    tables = [
        Table("rejected", "Posts and items rejected", ("post", "reason"), tuple((r.post, r.reason) for r in rejected)),
        length_table(items),
        Table("flags", "Items to check", ("item", "what"), tuple((flag.item, flag.what) for flag in flagged)),
    ]
    target = out / "review.csv"
    wrote = [
        context.write(out / "sesi.csv", official_csv(items), out),
        context.write(out / "provenance.jsonl", "".join(f"{encode(one.provenance).decode()}\n" for one in built), out),
        context.write(out / "rejected.csv", _csv(tables[0]), out),
        context.write(out / "checks.csv", "".join(_csv(table) + "\n" for table in tables[1:]), out),
    ]
    if not options.text("review"):
        if target.exists() and target.read_bytes() != sheet.encode():
            notes.append(f"{target} was edited and not overwritten; apply its decisions with --review {target}.")
        else:
            wrote.append(context.write(target, sheet))
    notes.append(f"items: {len(items)}; play them with: {hint('run sesi --data', out, '--model', 'MODEL')}")
    return Result(tuple(tables), tuple(notes), tuple(set_figures(items)), tuple(wrote))


def _raw_posts(options: Settings) -> list[RawPost]:
    names = options.texts("posts")
    if not names:
        raise UsageError("build needs posts: --posts FILE (JSON lines), or --posts demo.")
    return read_posts([DEMO if name == "demo" else Path(name) for name in names])


def _csv(table: Table) -> str:
    return write_sheet(table.columns, table.rows, guard_formulas=True)
