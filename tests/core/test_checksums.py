"""One checksum for files of any size, and one for folders."""

import ast
import hashlib
import subprocess
from pathlib import Path

import pytest

import sociometer
from sociometer.core.checksums import checksum, checksum_like

LARGE = bytes(range(256)) * 9_000  # several blocks and a part of one


@pytest.mark.parametrize("content", [b"", b"one", LARGE])
def test_the_checksum_of_a_file_is_its_sha256(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert checksum(path) == hashlib.sha256(content).hexdigest()
    assert checksum_like(path, "0" * 64) == checksum(path)


@pytest.mark.parametrize("content", [b"", b"one\n", LARGE])
def test_a_file_is_compared_with_a_git_id_where_only_that_is_known(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    git = subprocess.run(["git", "hash-object", "--no-filters", path], capture_output=True, text=True, check=True)
    assert checksum_like(path, "0" * 40) == git.stdout.strip()


def test_the_checksum_of_a_folder_depends_on_names_and_contents(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two").write_bytes(b"2")
    (tmp_path / "one").write_bytes(b"1")
    assert checksum(tmp_path) == hashlib.sha256(b"b/two" + b"2" + b"one" + b"1").hexdigest()
    before = checksum(tmp_path)
    (tmp_path / "one").rename(tmp_path / "other")
    assert checksum(tmp_path) != before


def test_no_other_module_computes_the_checksum_of_a_file():
    """Those that read a file whole for another reason may also hash what they have read."""
    source = Path(sociometer.__file__).parent
    for path in sorted(set(source.rglob("*.py")) - {source / "core" / "checksums.py"}):
        text = path.read_text("utf-8")
        if "hashlib." not in text or not ("read_bytes" in text or "file_digest" in text):
            continue
        calls = [ast.unparse(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        hashed = [
            call for call in calls if call.startswith("hashlib.") and ("read_bytes" in call or "file_digest(" in call)
        ]
        assert hashed == [], path
