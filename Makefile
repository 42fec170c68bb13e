# Two commands do everything on a machine with Python >= 3.11, pip and make: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
JOBS   ?= auto
RUN    := env -u PYTHONPATH

.PHONY: demo test lint types contracts unit coverage conformance golden corpus bench damage torture mutants clean

demo: $(READY)  ## Replay a recorded real session: prompt, hot state, accounting, one explanation
	@$(RUN) $(BIN)/python -m fixtures.demo

test: lint types contracts unit  ## Everything that must pass before a change lands

lint: $(READY)
	$(RUN) $(BIN)/ruff check .
	$(RUN) $(BIN)/ruff format --check .

types: $(READY)
	$(RUN) $(BIN)/mypy
	$(RUN) $(BIN)/pyright

contracts: $(READY)
	$(RUN) $(BIN)/lint-imports

unit: $(READY)
	$(RUN) $(BIN)/python -m pytest -n $(JOBS)

coverage: $(READY)  ## The same tests, with branch coverage of all but laws and models: tracing takes much of the time
	$(RUN) $(BIN)/python -m pytest -n $(JOBS) --cov --cov-fail-under=95

damage: $(READY)  ## A cut at every byte, 20,000 flipped bits, lines of 200 MB (make unit tries a sample)
	MEMFOLD_DAMAGE=full $(RUN) $(BIN)/python -m pytest tests/faults/test_damage.py tests/faults/test_long_lines.py -n $(JOBS) --no-cov --timeout 3000

conformance: $(READY)
	$(RUN) $(BIN)/python -m tests.conformance fixtures/cases/*.jsonl

golden: $(READY)  ## Rewrite the golden prompts and accounting from the fixtures
	$(RUN) $(BIN)/python -m pytest tests/golden --update-golden -p no:randomly

corpus: $(READY)  ## Redaction: precision and recall, and every form of a secret through every entry (minutes)
	$(RUN) $(BIN)/python -m tests.corpus --entries

bench: $(READY)  ## Ratios measured side by side in one run
	$(RUN) $(BIN)/python -m bench

KILLS   ?= 10000
SECONDS ?= 3600
SEED    ?= $(shell date +%s)

torture: $(READY)  ## Kill writers (KILLS, SECONDS at most, SEED), then let every system call of everything fail in every way
	$(RUN) $(BIN)/python -m tests.torture --kills $(KILLS) --seconds $(SECONDS) --seed $(SEED)
	$(RUN) $(BIN)/python -m pytest -n $(JOBS) -m torture --timeout 3600 --no-cov -q
	MEMFOLD_SESSIONS=100 $(RUN) $(BIN)/python -m pytest tests/faults/test_nothing_left.py -n 0 --no-cov -q

SHARE ?= 1/8

mutants: $(READY)  ## Change one thing in ledger/ or projections/ at a time: does a test fail? (SHARE of all mutants: 1/1 takes hours)
	$(RUN) $(BIN)/python -m tests.mutants --share $(SHARE)

# The stamp is newer than pyproject.toml only after an install that ended well.
$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $(READY)

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage* bench/out mutants
