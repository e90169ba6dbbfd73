"""The pipeline from posts to a playable set: filter, draft, assemble, check, review, write."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from sociometer.core.command import CommandContext
from sociometer.core.errors import DataError, UsageError, unknown
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.settings import Settings
from sociometer.core.sheets import read_rows, write_sheet
from sociometer.instruments.sesi.build import assembly, posts, statistics
from sociometer.instruments.sesi.build.assembly import Flag
from sociometer.instruments.sesi.build.posts import RawPost, Rejection
from sociometer.instruments.sesi.items import Question
from sociometer.statistics.formatting import stand_in_notes

DECISIONS = ("keep", "wrong ability", "no right answer", "several right answers")
COLUMNS = ("id", "ability", "situation", "question", "A", "B", "C", "D", "flags", "choice", "decision", "note")
OTHER_KEY = "the reviewer chose another option"


class Review(Struct, frozen=True):
    """A reviewer's decision on an item, and the option that they chose without seeing the key (empty: none)."""

    decision: str
    choice: str = ""


def review_sheet(items: Sequence[Question], flags: Sequence[Flag]) -> str:
    """A CSV with one item per line and no key; the experts fill in `choice` and `decision` (empty means keep)."""
    rows = []
    for item in items:
        raised = "; ".join(flag.what for flag in flags if flag.item == item.id)
        rows.append((item.id, item.ability, item.situation, item.question, *item.options, raised, "", "", ""))
    return write_sheet(COLUMNS, rows, guard_formulas=True)


def read_decisions(path: Path) -> dict[str, Review]:
    """The experts' decisions by item; an unknown word raises an error with the line."""
    decisions = {}
    for line, row in read_rows(path, ("id", "decision"), optional=("choice",), guarded=True):
        decision = row["decision"].strip().lower() or "keep"
        if decision not in DECISIONS:
            raise DataError(str(unknown("decision", decision, DECISIONS)), path, line)
        choice = row.get("choice", "").strip().upper()
        if choice and choice not in "ABCD":
            raise DataError(str(unknown("choice", choice, ("A", "B", "C", "D"))), path, line)
        decisions[row["id"]] = Review(decision, choice)
    return decisions


def agreement(items: Sequence[Question], decisions: dict[str, Review]) -> tuple[int, int]:
    """How many items reviewers answered without the key, and how many of these answers match the key."""
    answered = [(item, decisions[item.id].choice) for item in items if item.id in decisions]
    answered = [(item, choice) for item, choice in answered if choice]
    return len(answered), sum("ABCD".index(choice) == item.answer for item, choice in answered)


def apply_decisions(
    items: Sequence[Question], decisions: dict[str, Review], path: Path
) -> tuple[list[Question], list[Rejection]]:
    """The items to keep, and those that experts removed or answered differently; an unknown item raises an error."""
    known = {item.id for item in items}
    strangers = sorted(set(decisions) - known)
    if strangers:
        raise DataError(f"decides on items that were not built: {', '.join(strangers[:5])}", path)
    why = {item.id: _why_removed(item, decisions.get(item.id, Review("keep"))) for item in items}
    kept = [item for item in items if not why[item.id]]
    return kept, [Rejection(name, f"expert review: {reason}") for name, reason in why.items() if reason]


def _why_removed(item: Question, review: Review) -> str:
    if review.decision != "keep":
        return review.decision
    return OTHER_KEY if review.choice and "ABCD".index(review.choice) != item.answer else ""


def build(context: CommandContext, options: Settings) -> Result:
    """Builds items from posts: every reply is journaled, so running it again asks nothing and writes the same."""
    out = Path(options.text("to"))
    found, rejected = posts.filter_posts(_raw_posts(options), options.whole("min-comments"))
    if not found and not rejected:
        raise UsageError("the files contain no posts; give JSON lines as in public dumps.")
    if not found:
        reasons = "; ".join(sorted({entry.reason for entry in rejected}))
        raise UsageError(f"no post passes the filters ({len(rejected)} were rejected): {reasons}.")
    limited = found[: options.whole("limit")] if options.text("limit") else found
    view = context.play("construction", items=limited).view("construction")
    built, dropped = assembly.assemble(
        [(post, draft) for post, draft, _ in view.scored()],
        builder=view.roles.get("builder", ""),
        prompts=context.source().prompts.digest,
        seed=context.seed,
    )
    rejected += dropped
    notes = [
        f"{count} posts have no draft: {kind}; run the same command to try them again"
        for kind, count in view.failures().items()
    ]
    if len(limited) < len(found):
        notes.append(f"{len(found) - len(limited)} more posts pass the filters; --limit {len(limited)} leaves them out")
    return _write(context, options, out, built, rejected, [*notes, *stand_in_notes([view])])


def _write(
    context: CommandContext,
    options: Settings,
    out: Path,
    built: Sequence[assembly.Built],
    rejected: list[Rejection],
    notes: list[str],
) -> Result:
    items = [entry.item for entry in built]
    flags = assembly.flags(items)
    sheet = review_sheet(items, flags)
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
        flags = [flag for flag in flags if flag.item in kept]
    tables = [
        Table("rejected", "Posts and items rejected", ("post", "reason"), tuple((r.post, r.reason) for r in rejected)),
        assembly.length_table(items),
        Table("flags", "Items to check", ("item", "what"), tuple((flag.item, flag.what) for flag in flags)),
    ]
    if options.text("lexicon"):
        tables.append(assembly.tone_table(items, assembly.read_lexicon(Path(options.text("lexicon")))))
    target = out / "review.csv"
    wrote = [
        context.write(out / "sesi.csv", assembly.official_csv(items)),
        context.write(out / "provenance.jsonl", assembly.provenance_lines(built)),
        context.write(out / "rejected.csv", _csv(tables[0])),
        context.write(out / "checks.csv", "".join(_csv(table) + "\n" for table in tables[1:])),
    ]
    if not options.text("review"):
        if target.exists() and target.read_bytes() != sheet.encode():
            notes.append(f"{target} was edited and not overwritten; apply its decisions with --review {target}.")
        else:
            wrote.append(context.write(target, sheet))
    notes.append(f"items: {len(items)}; play them with: sociometer run sesi --data {out} --model MODEL")
    return Result(tuple(tables), tuple(notes), tuple(statistics.figures(items)), tuple(wrote))


def _raw_posts(options: Settings) -> list[RawPost]:
    names = options.texts("posts")
    if not names:
        raise UsageError("build needs posts: --posts FILE (JSON lines), or --posts demo.")
    return posts.read_posts([posts.DEMO if name == "demo" else Path(name) for name in names])


def _csv(table: Table) -> str:
    return write_sheet(table.columns, table.rows, guard_formulas=True)
