"""Updates the manifests of schema 2: the user's options move into one record, `config`."""

from typing import Any

import msgspec

from sociometer.core.config import DEFAULT_IN_FLIGHT, model_label
from sociometer.store.database import Connection
from sociometer.store.texts import seal, unpack

_CHOICES = ("instrument", "tasks", "settings", "seed", "limit", "official", "data_folder", "prompts_folder", "fresh",
            "command", "caps", "in_flight", "retries")  # fmt: skip
_SUBJECT_CHOICES = ("base_url", "revision", "key_variable", "timeout_seconds", "sampling")


def upgrade_manifests(connection: Connection) -> None:
    """Rewrite every manifest, and replace the subject column by the subject's label."""
    for run, subject, packed in connection.execute("SELECT id, subject, manifest FROM run").fetchall():
        manifest = upgraded(subject, msgspec.json.decode(unpack(packed)))
        connection.execute(
            "UPDATE run SET subject = ?, manifest = ? WHERE id = ?",
            (model_label(subject), seal(msgspec.json.encode(manifest), run), run),
        )


def upgraded(subject: str, old: dict[str, Any]) -> dict[str, Any]:
    """The manifest of schema 3 for one of schema 2."""
    seats: dict[str, Any] = old.pop("seats")
    config = {name: old.pop(name) for name in _CHOICES if name in old}
    config["in_flight"] = config.get("in_flight") or DEFAULT_IN_FLIGHT
    config["subject"] = subject
    config["step_of"] = next((verb for verb in config.get("command", ())[1:2] if verb != "run"), "")
    config["roles"] = {role: seat["spec"] for role, seat in seats.items() if role != "subject"}
    config.update({name: value for name, value in seats.get("subject", {}).items() if name in _SUBJECT_CHOICES})
    if len(repeats := set(old["repeats"].values())) == 1:
        config["repeats"] = repeats.pop()
    roles = {
        role: {"spec": seat["spec"], "identity": seat["identity"], "label": model_label(seat["spec"])}
        for role, seat in seats.items()
    }
    return {**old, "config": config, "roles": roles}
