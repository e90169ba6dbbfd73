# Every target sets up what it needs: virtual environment, dependencies, the embedded model.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --quiet --disable-pip-version-check
LOCK ?= requirements/dev.lock
DEMO ?= demo
CHROMIUM ?= chromium
RECORDING ?= qwen2.5-coder-1.5b
export NO_MKDOCS_2_WARNING = 1
# Tests start many short commands, which would compile the package anew each time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo picture recording test test-all test-adapters test-pythons check setup site bench bench-readers bench-reading dist clean

# Needs only the package with its embedded model, not what the tests need.
demo: $(VENV)/.installed
	$(BIN)/sociometer demo --to $(DEMO)

# The picture in README.md, from the page of `make demo`.
picture: $(VENV)/.installed
	$(BIN)/sociometer demo --to $(DEMO)
	$(CHROMIUM) --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1300,720 \
	  --screenshot=docs/images/report.png file://$(abspath $(DEMO))/report.html

# Records the model that `make demo` replays: make recording MODEL=PATH.gguf TITLE=Name. Plays on where it was stopped.
recording: setup
	@test -n "$(MODEL)" || { echo "give the model's file: make recording MODEL=PATH.gguf TITLE=NAME LICENCE=NAME"; exit 2; }
	$(BIN)/python tools/record.py --model "local/$(MODEL)" --title "$(TITLE)" --licence "$(LICENCE)" \
	  --out src/sociometer/models/recordings/$(RECORDING).jsonl.gz --store recording/$(RECORDING).db

# Three workers, also on two cores: some of them wait for servers and other processes. Each of them would rewrite every
# assertion, half a minute together; so only those that fail are run again with their values.
test: setup check
	$(BIN)/pytest -q -n 3 --dist worksteal --assert=plain \
	  || { $(BIN)/pytest -q --last-failed --last-failed-no-failures none; exit 1; }

# Everything: also browsers, real local models, simulations and other tools.
test-all: $(VENV)/.complete check
	$(BIN)/pytest -q -n 3 --dist worksteal -m "" --hypothesis-profile many

# The adapters to other tools, with packages that are too large for `make test`, in their own virtual environment; then
# those of Inspect that need a newer openai than verifiers allows, from a folder beside it.
test-adapters:
	$(MAKE) setup VENV=.venv-adapters LOCK=requirements/adapters.lock
	.venv-adapters/bin/pytest -q -n 3 --dist worksteal tests/adapters
	.venv-adapters/bin/pip --quiet install --require-hashes --no-deps --upgrade --target .venv-adapters/openai -r requirements/openai.lock
	PYTHONPATH=$(CURDIR)/.venv-adapters/openai .venv-adapters/bin/pytest -q tests/adapters/test_same_requests.py

# The whole suite on each Python from 3.11 to 3.14 that is on PATH.
test-pythons:
	scripts/test-pythons

check: setup
	$(BIN)/ruff check src tests bench scripts tools
	$(BIN)/ruff format --check src tests bench scripts tools
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/mkdocs --quiet build --strict --site-dir site

# The documentation site, in site/; a warning is an error.
site: setup
	$(BIN)/mkdocs --quiet build --strict --site-dir site
	@echo "Read it, with its search: $(BIN)/python -m http.server --directory site, then http://localhost:8000"

setup: $(VENV)/.ready

# Installs the locked versions, checked against their hashes. `scripts/lock` writes the lock files. They are complete, so
# pip looks for no dependencies of its own; before 23.3 it takes the pin of a package not for the package with an extra.
# pip would compile everything on one core; the demo needs little of it.
$(VENV)/.ready: $(VENV)/.installed $(LOCK)
	$(PIP) install --no-compile --require-hashes --no-deps --no-build-isolation -r $(LOCK)
	-$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib src
	touch $@

# What only slow tests need: PyTorch, Ray, browsers, other implementations of the games. Pages are checked with axe-core (MPL-2.0),
# which is not part of this repository, from a package that carries it.
$(VENV)/.complete: $(VENV)/.ready requirements/torch.lock requirements/all.lock
	$(PIP) install --require-hashes --no-deps --no-build-isolation -r requirements/all.lock
	$(PIP) install --require-hashes --no-deps -r requirements/torch.lock \
	  || echo "PyTorch's build for CPUs is not on your package index: the tests of open weights are skipped"
	$(PIP) install --no-deps --target .venv-axe axe-playwright-python==0.1.8 || echo "no axe-core: its tests are skipped"
	touch $@

$(VENV)/.installed: pyproject.toml requirements/build.lock requirements/local.lock
	$(PYTHON) -c 'import sys; sys.exit("Sociometer needs Python 3.11 or later; set PYTHON=") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --no-compile --require-hashes -r requirements/build.lock
	$(PIP) install --no-compile --require-hashes --no-deps --no-build-isolation -r requirements/local.lock
	$(PIP) install --no-compile --no-deps --no-build-isolation -e .
	$(BIN)/sociometer get model smollm2-135m
	touch $@

bench: $(VENV)/.complete
	$(BIN)/python bench/run.py

# Seconds for each reader on 1 MB of each kind of absurd text; fails above one second.
bench-readers: setup
	$(BIN)/python bench/reading_time.py

# How many labelled replies are read right, wrong and not at all, beside the rules of other tools.
bench-reading: setup
	$(BIN)/python bench/reading.py

# The source archive and the wheel, in dist/.
dist: setup
	rm -rf dist
	$(BIN)/python -m build --no-isolation

clean:
	rm -rf $(VENV) .venv-adapters .venv-3.* $(DEMO) dist site
