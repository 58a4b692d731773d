# `make` without a target lists the targets.  All commands run in .venv, which the first target creates.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DATA   ?= ../shared/data
JOBS   ?= 2

SHELL       := bash
.SHELLFLAGS := -o pipefail -c
comma       := ,

.DEFAULT_GOAL := help
.PHONY: help demo docs test test-all check fix bench bench-check soak clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

# Creates the environment and installs stream_lsh with the extras of $(1).  Of pip's output one line per library remains;
# errors go to standard error.
define install
	@echo "Installing stream_lsh[$(1)]:"
	@echo "  Python environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --editable '.[$(1)]' | \
		while read -r verb name _; do case "$$verb $$name" in \
			Obtaining*) echo "  build tools" ;; \
			Collecting*) echo "  $${name%%[^A-Za-z0-9._-]*}" ;; \
			"Installing collected") echo "  copying the files" ;; \
		esac; done
	@touch $@
endef

$(VENV)/.ready: pyproject.toml
	$(call install,test)

$(VENV)/.demo: pyproject.toml
	$(call install,embedded$(comma)web)

$(VENV)/.bench: $(VENV)/.ready
	$(call install,bench)

$(VENV)/.docs: pyproject.toml
	$(call install,docs$(comma)records)

demo: $(VENV)/.demo  ## a live stream of news stories, through a broker in memory
	@$(BIN)/stream-lsh demo

docs: $(VENV)/.docs  ## build the documentation site into site/; every link and anchor is checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Bytecode must be stored: without it, each of the many processes of a run compiles the package and its libraries again.
test test-all: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/.ready  ## the quick tests, some minutes on two cores: no Java, no browser, no corpora, nothing outside the checkout
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --hypothesis-profile quick \
		-m "not (slow or kafka or browser or corpus or chaos or packaging or promtool)"

test-all: $(VENV)/.ready  ## all tests: also corpora, packaging, a browser, a real broker, more schedules, faults on three brokers
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

check: $(VENV)/.ready  ## format, lint, types, words; changes nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_language.py -p no:cacheprovider

fix: $(VENV)/.ready  ## format and repair what the linter can repair
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.bench  ## measure against the peers; prints tables, see benchmarks/README.md
	$(BIN)/python -m benchmarks --data $(DATA)

bench-check: $(VENV)/.bench  ## measure a few ratios and compare them with the committed ones; a loss of 15 % fails
	$(BIN)/python -m benchmarks.check

soak: $(VENV)/.ready  ## 25,000 schedules of the simulated log; two long runs of each fault profile on three brokers; a million malformed messages, three ways; 100,000 hostile requests; queries of all kinds in all layouts
	$(BIN)/python -m tests.simulation --seeds 12000 --jobs $(JOBS)
	$(BIN)/python -m tests.simulation --seeds 6000 --jobs $(JOBS) --records
	$(BIN)/python -m tests.simulation --seeds 3000 --jobs $(JOBS) --rekey
	$(BIN)/python -m tests.simulation --seeds 1000 --jobs $(JOBS) --groups
	$(BIN)/python -m tests.simulation --seeds 1500 --jobs $(JOBS) --losses
	$(BIN)/python -m tests.simulation --seeds 1500 --jobs $(JOBS) --disks
	$(BIN)/python -m tests.chaos --profile all --seed 1 --runs 2 --data $(DATA)
	$(BIN)/python -m tests.fuzz --messages 1000000 --jobs $(JOBS)
	$(BIN)/python -m tests.fuzz --messages 1000000 --broker embedded --jobs $(JOBS)
	$(BIN)/python -m tests.fuzz --messages 1000000 --broker real --jobs $(JOBS)
	$(BIN)/python -m tests.fuzz --requests 100000
	$(BIN)/python -m tests.kafka.equality

clean:  ## remove the files that the targets created
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist site
