# Both targets set everything up themselves: virtual environment, dependencies, the embedded model.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO ?= demo
export SOCIOMETER_CACHE ?= $(CURDIR)/$(VENV)/models

.PHONY: demo test check setup bench clean

demo: setup
	$(BIN)/python -m sociometer.cli.demo --folder $(DEMO)

test: setup check
	$(BIN)/pytest -q -n 2 --dist worksteal

check: setup
	$(BIN)/ruff check src tests bench
	$(BIN)/ruff format --check src tests bench
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

clean:
	rm -rf $(VENV) $(DEMO)
