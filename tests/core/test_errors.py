"""The kinds of failures: each is stored under a fixed name, and those that somebody catches have a class."""

import ast
import pickle
from pathlib import Path

import pytest

import sociometer
from sociometer.core.errors import (
    FailureKind,
    Filtered,
    MachineryError,
    Unauthorised,
    UnknownToServer,
    Unreachable,
    UnreadableRole,
    by_role,
    failure_of,
    unknown,
)

SOURCE = Path(sociometer.__file__).parent
STORED = {
    "authentication", "connection", "content filter", "context too long", "download",
    "empty reply", "English embedder", "failed", "inspect", "instrument error",
    "local model", "malformed reply", "no embeddings", "no key", "not found", "not recorded",
    "not scored", "not stored", "not supported", "out of credit", "overloaded", "provider error", "python error",
    "rate limit", "refused option", "refused request", "replica died", "scoring error", "script ran dry",
    "server error", "timeout", "unreachable", "unreadable", "wrong server",
}  # fmt: skip


def test_the_stored_names_of_kinds_stay_the_same():
    assert {str(kind) for kind in FailureKind} == STORED


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (MachineryError("x"), "failed"),
        (MachineryError("x", FailureKind.TIMEOUT, retryable=True), "timeout"),
        (Unreachable("x", retryable=True), "unreachable"),
        (Unauthorised("x", fatal=True), "authentication"),
        (UnknownToServer("x", fatal=True), "not found"),
        (Filtered("x", tokens=(3, 0)), "content filter"),
        (UnreadableRole("x", "simulator"), "unreadable simulator"),
    ],
)
def test_an_error_has_its_kind_also_when_it_comes_from_another_process(error, kind):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and vars(copy) == vars(error) and str(copy) == "x"
    assert failure_of(error) == failure_of(copy) == (kind, "x") and type(failure_of(copy)[0]) is str


def test_failures_are_counted_by_the_role_that_failed():
    error = MachineryError("x", FailureKind.TIMEOUT)
    error.role = "judge"
    assert failure_of(error)[0] == "timeout of the judge"
    found = {"timeout": 4, "timeout of the judge": 3, "unreadable judge": 2, "server error of the second": 1}
    assert by_role(found, ["subject", "judge", "simulator", "second"]) == {"judge": 5, "second": 1}


def test_an_error_of_an_instrument_names_its_class():
    assert failure_of(KeyError("x\x1b")) == ("instrument error", "KeyError: 'x\\x1b'")


def test_no_kind_is_compared_with_a_text():
    """Whoever wants to know one kind of failure uses its class."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text if ".kind" in text else "")):
            if isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "kind":
                texts = [one.value for one in node.comparators if isinstance(one, ast.Constant)]
                assert not STORED.intersection(texts), f"{path}:{node.lineno}"


def test_no_instrument_catches_a_failed_request():
    too_wide = {"MachineryError", "SociometerError", "Exception"}
    for path in (SOURCE / "instruments").rglob("*.py"):
        text = path.read_text("utf-8")
        caught = [node.type for node in ast.walk(ast.parse(text if any(name in text for name in too_wide) else ""))
                  if isinstance(node, ast.ExceptHandler) and node.type is not None]  # fmt: skip
        names = {name.id for kind in caught for name in ast.walk(kind) if isinstance(name, ast.Name)}
        assert not names & too_wide, path


def test_an_unknown_name_that_is_the_end_of_a_known_one_gets_that_one_and_not_the_list():
    known = [f"{kind}:public:seceu-{number:02}" for kind in ("completion", "order") for number in range(40)]
    assert str(unknown("item", "seceu-03", known)).endswith("; did you mean 'completion:public:seceu-03'?")
    assert "known: " in str(unknown("item", "3", known))
