"""Finds axe-core, runs it on the page that the browser shows, and says what it found."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERIOUS = ("serious", "critical")


def axe_source():
    """The text of axe-core: the file that AXE_CORE names, or the one that `make test-all` installs in `.venv-axe`."""
    named = os.environ.get("AXE_CORE")
    found = [Path(named)] if named else sorted((ROOT / ".venv-axe").rglob("axe.min.js"))
    if not found:
        pytest.skip("no axe-core here: npm install --no-save --prefix .venv-axe axe-core, or set AXE_CORE")
    return found[0].read_text("utf-8")


def findings(browser, source):
    """The serious findings on the page: rule, what it says, and the first element."""
    if not browser.execute_script("return typeof window.axe === 'object'"):
        # Through the debugger: the page's own policy forbids scripts of others.
        browser.execute_cdp_cmd("Runtime.evaluate", {"expression": source})
    result = browser.execute_async_script(
        "const done = arguments[0];"
        "axe.run(document, {resultTypes: ['violations']}).then((found) => done(found), (error) => done(String(error)))"
    )
    assert isinstance(result, dict), result
    return [
        f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}"
        for one in result["violations"]
        if one["impact"] in SERIOUS
    ]
