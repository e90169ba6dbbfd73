"""The files around the package agree with it: workflows, issue forms, citation, classifiers, release notes."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import sociometer
from sociometer.cli.main import run_command

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
RELEASE_NOTES = ROOT / "scripts/release_notes.py"
BUILD_LOCK, LOCAL_LOCK, DEV_LOCK, ADAPTERS_LOCK, ALL_LOCK, OPENAI_LOCK, TORCH_LOCK = (
    f"requirements/{name}.lock" for name in ("build", "local", "dev", "adapters", "all", "openai", "torch")
)
LOCKS = (BUILD_LOCK, LOCAL_LOCK, DEV_LOCK, ADAPTERS_LOCK, ALL_LOCK, OPENAI_LOCK)
PLATFORMS = (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"), ("darwin", "x86_64"))


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


CITATION = yaml.safe_load(read("CITATION.cff"))
REFERENCES = CITATION["references"]
CARDS = (ROOT / "src/sociometer/instruments").glob("[!_]*/card.toml")
PUBLISHED = [tomllib.loads(read(card)) for card in CARDS if "[paper]" in read(card)]
PAPERS = {card["paper"]["title"]: card["paper"] for card in PUBLISHED}


def steps(workflow):
    return [step for job in yaml.safe_load(read(workflow))["jobs"].values() for step in [job, *job.get("steps", [])]]


def make_targets():
    return set(re.findall(r"^([a-z][a-z-]*):(?!=)", read("Makefile"), re.MULTILINE))


def classified_pythons():
    classifiers = tomllib.loads(read("pyproject.toml"))["project"]["classifiers"]
    return re.findall(r"Python :: (3\.\d+)$", "\n".join(classifiers), re.MULTILINE)


def release_notes(*arguments):
    return subprocess.run([sys.executable, RELEASE_NOTES, *arguments], capture_output=True, text=True, encoding="utf-8")


def ids(paths):
    return [path.stem for path in paths]


def test_there_are_workflows_forms_and_references_to_check():
    assert ids(WORKFLOWS) == ["adapters", "release", "tests"]
    assert ids(FORMS) == ["bug", "instrument", "score"]
    assert len(REFERENCES) >= 5


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=ids(WORKFLOWS))
def test_a_workflow_calls_only_make_targets_that_exist(workflow):
    called = re.findall(r"\bmake ([a-z-]+)", "\n".join(step.get("run", "") for step in steps(workflow)))
    assert called
    assert set(called) <= make_targets()


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "README.md", ".github/pull_request_template.md"])
def test_a_page_names_only_make_targets_that_exist(page):
    named = re.findall(r"(?:`|^)make ([a-z-]+)", read(page), re.MULTILINE)
    assert named
    assert set(named) <= make_targets()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=ids(WORKFLOWS))
def test_a_workflow_may_only_read_unless_a_job_says_more(workflow):
    assert yaml.safe_load(read(workflow))["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=ids(WORKFLOWS))
def test_an_action_is_pinned_to_a_major_version(workflow):
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert used
    for action in used:
        assert re.search(r"^\./|@(release/)?v\d+$", action), action


def test_classifiers_workflow_and_script_name_the_same_pythons():
    matrix = yaml.safe_load(read(".github/workflows/tests.yml"))["jobs"]["test"]["strategy"]["matrix"]
    script = re.search(r"^for version in ([\d. ]+);", read("scripts/test-pythons"), re.MULTILINE)
    assert matrix["python"] == classified_pythons()
    assert script.group(1).split() == classified_pythons()


def test_the_package_installs_on_the_classified_pythons_and_not_on_the_one_before():
    required = SpecifierSet(importlib.metadata.metadata("sociometer")["Requires-Python"])
    first = classified_pythons()[0]
    assert all(python in required for python in classified_pythons())
    assert f"3.{int(first.removeprefix('3.')) - 1}" not in required


def environments():
    """Each Python and platform that `make setup` supports, as markers see it."""
    return [
        {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": system, "os_name": "posix"}
        | {"platform_machine": machine, "implementation_name": "cpython", "platform_python_implementation": "CPython"}
        for python in classified_pythons()
        for system, machine in PLATFORMS
    ]


def applies(requirement, environment):
    return requirement.marker is None or requirement.marker.evaluate(environment)


def locked(lock):
    """The requirements of a lock file, each with its hashes."""
    entries = re.findall(r"^(\S.*==.*?) \\\n((?:    --hash=.*\n)*)", read(lock), re.MULTILINE)
    return [(Requirement(entry), re.findall(r"--hash=sha256:[0-9a-f]{64}\b", hashes)) for entry, hashes in entries]


def declared():
    """Each direct dependency that `make` installs, with the lock file it must be in."""
    project = tomllib.loads(read("pyproject.toml"))
    extras = project["project"]["optional-dependencies"]
    wanted = {
        BUILD_LOCK: project["build-system"]["requires"],
        LOCAL_LOCK: project["project"]["dependencies"] + extras["local"],
        DEV_LOCK: project["project"]["dependencies"] + extras["dev"] + extras["local"],
        ADAPTERS_LOCK: project["project"]["dependencies"] + extras["dev"] + extras["lm-eval"] + extras["verifiers"],
        ALL_LOCK: extras["dev-all"] + extras["hf"] + extras["inside"],
        TORCH_LOCK: ["torch"],
    }
    found = [(lock, Requirement(line)) for lock, lines in wanted.items() for line in lines]
    return [(lock, one) for lock, one in found if one.name != "torch" or lock == TORCH_LOCK]


@pytest.mark.parametrize(("lock", "wanted"), declared(), ids=lambda one: getattr(one, "name", None))
def test_a_direct_dependency_is_locked_in_an_allowed_version_on_every_python_and_platform(lock, wanted):
    pins = [(pin, hashes) for pin, hashes in locked(lock) if pin.name == canonicalize_name(wanted.name)]
    for environment in (one for one in environments() if applies(wanted, one)):
        (found,) = [(pin, hashes) for pin, hashes in pins if applies(pin, environment)]
        assert re.fullmatch(r"==[^*]+", str(found[0].specifier))
        assert wanted.specifier.contains(str(found[0].specifier).removeprefix("=="), prereleases=True), environment
        assert found[1], f"{found[0]} has no hash"


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_holds_pins_hashes_and_reasons_and_nothing_else(lock):
    """No index, address, host or path: whoever installs chooses where from."""
    pin = r"[a-z0-9-]+==[0-9][a-z0-9.]*(?: ; [A-Za-z0-9_ .'()!=<>]+)? \\"
    kept = rf"{pin}|    --hash=sha256:[0-9a-f]{{64}}(?: \\)?|    #(?: via| +[a-z0-9-]+| via [a-z0-9-]+)"
    given = r"-[rc] requirements/(?:build\.in|openai\.in|torch\.in|dev\.lock)"
    project = rf"    #(?: via|  ) (?:sociometer \(pyproject\.toml\)|{given})"
    header = r"# This file was autogenerated by uv via the following command:|#    scripts/lock"
    header += r"|# The following packages were excluded from the output:|# torch"
    lines = read(lock).splitlines()
    strange = [line for line in lines if line and not re.fullmatch(rf"{kept}|{project}|{header}", line)]
    assert strange == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_entry_of_a_lock_file_has_a_hash(lock):
    entries = [line for line in read(lock).splitlines() if re.match(r"\w", line)]
    assert len(locked(lock)) == len(entries) > 0
    assert all(hashes for _, hashes in locked(lock))


def test_the_lock_files_agree_where_both_name_a_package():
    build, *others = (
        {(pin.name, str(pin.specifier)) for pin, _ in locked(lock)} for lock in LOCKS if lock != OPENAI_LOCK
    )
    for everything in others:
        shared = {name for name, _ in build} & {name for name, _ in everything}
        assert shared
        assert {pin for pin in build if pin[0] in shared} <= everything


def test_make_installs_what_the_lock_files_name_and_nothing_else():
    installs = re.findall(r"install (.*)", read("Makefile"))
    rules = re.findall(r"^\$\(VENV\)/\.(?:complete|ready|installed): (.*)", read("Makefile"), re.MULTILINE)
    assert [line for line in installs if "--require-hashes" not in line and "--no-deps" not in line] == []
    named = {word for line in installs for word in line.split() if word.endswith(".lock")}
    assert named == {BUILD_LOCK, LOCAL_LOCK, TORCH_LOCK, ALL_LOCK, OPENAI_LOCK}
    assert set(re.findall(r"LOCK ?\??=\s*(\S+)", read("Makefile"))) == {DEV_LOCK, ADAPTERS_LOCK}
    needed = {"pyproject.toml", *named, "$(LOCK)"} - {OPENAI_LOCK}  # which test-adapters puts into a folder
    assert needed <= set(" ".join(rules).split())


def test_nothing_that_make_builds_fetches_packages_without_hashes():
    builds = re.findall(r"(?:install .*(?:\(LOCK\)|all\.lock| -e )|-m build).*", read("Makefile"))
    assert len(builds) == 4
    assert all("--no-build-isolation" in line or "--no-isolation" in line for line in builds)


@pytest.mark.parametrize("workflow", ["adapters", "tests"])
def test_a_workflow_caches_packages_by_the_lock_files(workflow):
    used = steps(f".github/workflows/{workflow}.yml")
    (setup,) = [step["with"] for step in used if "setup-python" in step.get("uses", "")]
    assert setup["cache-dependency-path"] == "requirements/*.lock"


@pytest.mark.parametrize(("broken", "code"), [("3.13", 1), ("none", 0)])
def test_the_script_for_all_pythons_says_which_passed_failed_and_were_not_found(tmp_path, broken, code):
    programs = {f"python{version}": f"exit {int(version in ('3.12', '3.14'))}" for version in classified_pythons()}
    programs["make"] = f'case "$*" in "test PYTHON=python{broken} "*) exit 2;; esac'
    for name, body in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run([ROOT / "scripts/test-pythons"], env=path, capture_output=True, text=True)
    told = {1: "passed: 3.11; failed: 3.13;", 0: "passed: 3.11 3.13; failed: none;"}
    assert done.returncode == code
    assert done.stdout.splitlines()[-1] == f"{told[code]} not found on PATH: 3.12 3.14"


@pytest.mark.parametrize("form", FORMS, ids=ids(FORMS))
def test_an_issue_form_has_what_github_requires(form):
    content = yaml.safe_load(read(form))
    assert content["name"]
    assert content["description"]
    fields = [field for field in content["body"] if field["type"] != "markdown"]
    assert {field["type"] for field in fields} <= {"input", "textarea", "dropdown", "checkboxes"}
    assert all(field["attributes"]["label"] for field in fields)
    assert len({field["id"] for field in fields}) == len(fields)


def test_pre_commit_takes_ruff_and_mypy_from_the_environment_that_make_sets_up():
    local = next(one for one in yaml.safe_load(read(".pre-commit-config.yaml"))["repos"] if one["repo"] == "local")
    called = [hook["entry"].split()[0] for hook in local["hooks"]]
    venv = re.search(r"^VENV \?= (\S+)", read("Makefile"), re.MULTILINE).group(1)
    assert called == [f"{venv}/bin/ruff", f"{venv}/bin/ruff", f"{venv}/bin/mypy"]


def test_the_citation_has_the_packages_version():
    assert CITATION["version"] == sociometer.__version__


def test_the_entry_for_bibtex_has_the_year_of_the_citation(capsys):
    assert run_command(["list", "seceu"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"year = {{{CITATION['date-released'].year}}}, version = {{{CITATION['version']}}}" in said
    assert "author = {Wang, Xuena and Li, Xueting and " in said
    assert "journal = {Journal of Pacific Rim Psychology}" in said


@pytest.mark.parametrize("cited", REFERENCES, ids=[cited["title"][:12] for cited in REFERENCES])
def test_a_cited_paper_is_that_of_an_instrument(cited):
    paper = PAPERS[cited["title"]]
    first = cited["authors"][0]
    assert cited["year"] == paper["year"]
    assert cited.get("url") == paper.get("link")
    assert cited.get("doi") == paper.get("doi")
    assert first.get("family-names", first.get("name")) in paper["authors"]
    assert paper["names"] == " and ".join(f"{one['family-names']}, {one['given-names']}" for one in cited["authors"])
    assert paper.get("proceedings") == cited.get("collection-title")
    assert cited.get("journal") in (None, paper.get("venue"))


def test_release_notes_are_the_changelog_section_of_the_version():
    notes = release_notes(f"v{sociometer.__version__}")
    assert notes.returncode == 0, notes.stderr
    assert notes.stdout.strip()
    assert notes.stdout.strip() in read("CHANGELOG.md")
    assert not re.search(r"^## ", notes.stdout, re.MULTILINE)


@pytest.mark.parametrize("tag", ["v9.9.9", sociometer.__version__])
def test_a_release_stops_when_the_tag_is_not_the_version(tag):
    notes = release_notes(tag)
    assert notes.returncode == 1
    assert notes.stdout == ""
    assert f"the tag is {tag}, but the package's version is {sociometer.__version__}" in notes.stderr
