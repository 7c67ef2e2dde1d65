# Every target builds the virtual environment it needs; only Python >= 3.11, git and make have to be there.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test check bench bench-forensics bench-reading bench-capture docs figures studies weka clean

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pytest-cvaudit needs Python 3.11 or newer; set PYTHON=")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.package: $(VENV)/bin/python pyproject.toml
	@echo "installing the package into $(VENV) ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml
	@echo "installing the package and its test tools into $(VENV) ..."
	@$(PIP) --editable '.[test]'
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	@echo "installing the package and its development tools into $(VENV) ..."
	@$(PIP) --editable '.[dev]'
	@touch $@

demo: $(VENV)/.package  ## a failing audit of a real-looking experiment, and its right numbers
	@echo; echo '$$ pytest --cvaudit examples'
	@$(BIN)/python -m pytest --cvaudit -p no:cacheprovider examples; status=$$?; \
	if [ $$status -eq 1 ]; then echo; echo 'The audit failed, as it should: the claimed numbers are not what the folds give.'; \
	else echo "demo: expected a failing audit (exit 1), got exit $$status"; exit 1; fi
	@echo; echo '$$ cvaudit report examples'
	@$(BIN)/cvaudit report --exit-zero examples
	@echo 'The right numbers stand under "recommended"; `cvaudit explain CV201` says why.'

test: $(VENV)/.test  ## all tests but the slow studies
	@$(BIN)/python -m pytest -n 2

check: $(VENV)/.dev  ## format, lint, types and import layers
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

studies: $(VENV)/.test  ## the slow studies: mutants of the checks, many random claims, mlscorecheck
	@$(BIN)/python -m pytest -m slow

docs: $(VENV)/.package  ## the rules' pages, from their cards
	@$(BIN)/python -m pytest_cvaudit.reporters.rule_pages docs/rules

figures: $(VENV)/.test  ## the papers' figures, into build/figures
	@$(BIN)/python examples/forman_scholz/make_figures.py build/figures

bench: $(VENV)/.test  ## speed of the tallies as ratios to one sort and to scikit-learn, and of the exact bias
	@$(BIN)/python benchmarks/bench_tallies.py
	@$(BIN)/python benchmarks/bench_bias.py

bench-forensics: $(VENV)/.test  ## claims without a log, side by side with mlscorecheck; some minutes
	@$(BIN)/python benchmarks/bench_forensics.py

bench-reading: $(VENV)/.test  ## reading 10 million rows, against pyarrow and pandas reading the same columns
	@$(BIN)/python benchmarks/bench_reading.py

bench-capture: $(VENV)/.test  ## scikit-learn's cross-validation with and without capture
	@$(BIN)/python benchmarks/bench_capture.py

weka: $(VENV)/.test  ## Java and two WEKAs, for the slow test with WEKA itself (Debian, as root)
	@apt-get update -qq && apt-get install -y -qq --no-install-recommends default-jre-headless weka
	@$(PIP) --no-deps python-weka-wrapper3

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
