# Every target sets up what it needs: virtual environment, dependencies, the embedded model.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO ?= demo
export SOCIOMETER_CACHE ?= $(CURDIR)/$(VENV)/models

.PHONY: demo test test-pythons check setup bench dist clean

demo: setup
	$(BIN)/python -m sociometer.cli.demo --folder $(DEMO)

test: setup check
	$(BIN)/pytest -q -n 2 --dist worksteal

# The whole suite on each Python from 3.11 to 3.14 that is on PATH.
test-pythons:
	scripts/test-pythons

check: setup
	$(BIN)/ruff check src tests bench scripts
	$(BIN)/ruff format --check src tests bench scripts
	$(BIN)/mypy
	$(BIN)/lint-imports

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Sociometer needs Python 3.11 or later; set PYTHON=") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev,local]'
	$(BIN)/sociometer models pull smollm2-135m
	touch $@

bench: setup
	$(BIN)/python bench/run.py

# The source archive and the wheel, in dist/.
dist: setup
	$(BIN)/pip install --quiet --disable-pip-version-check build
	rm -rf dist
	$(BIN)/python -m build

clean:
	rm -rf $(VENV) .venv-3.* $(DEMO) dist
