# make demo, make test: each sets up everything that it needs. Nothing here needs more than make, sh and Python.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
PACKAGE_FILES := pyproject.toml pins.toml README.md LICENSE \
	$(shell find toolchain native patches -type f -not -path '*/__pycache__/*')

.PHONY: help demo test lint native check soak mutants check-gpu-air bench lock clean

help:
	@echo 'make demo           install the Slang toolchain and record the layouts of a sample shader'
	@echo 'make test           run the whole test suite'
	@echo 'make lint           ruff and strict mypy'
	@echo 'make native         C++ with warnings as errors, its tests under sanitizers, and fuzzing'
	@echo 'make check          test, lint and native: what CI runs'
	@echo 'make soak           kill real installations at random points, and run many at once (20 minutes)'
	@echo 'make mutants        2,000 faulty AIR modules, each of which must be noticed'
	@echo 'make check-gpu-air  check the AIR that Mojo makes of examples/air for Metal'
	@echo 'make bench          time this tool against what people would use instead'
	@echo 'make lock           make the lock files of ci/lock anew'
	@echo 'make clean          remove the virtual environment and everything built'

demo: $(VENV)/package-installed
	$(BIN)/toolchain install slang
	$(BIN)/python examples/demo/demo.py

test: $(VENV)/package-installed $(VENV)/dev-installed
	ci/software-vulkan.sh || echo 'tests/gpu will be skipped' >&2
	$(BIN)/pytest

lint: $(VENV)/package-installed $(VENV)/dev-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

native: $(VENV)/package-installed
	$(BIN)/toolchain install slang
	eval "$$($(BIN)/toolchain env slang)" && SLANG_ROOT=$$DREAM_SLANG ci/native.sh

check: test lint native

soak: $(VENV)/package-installed
	$(BIN)/python ci/soak.py

# The nightly form of a test that takes 200 of them.
mutants: $(VENV)/package-installed $(VENV)/dev-installed
	AIR_MUTANTS=2000 $(BIN)/pytest tests/unit/test_air_mutations.py

check-gpu-air: $(VENV)/package-installed
	$(BIN)/toolchain install mojo
	$(BIN)/toolchain check air --project examples/air

bench: $(VENV)/package-installed $(VENV)/dev-installed
	ci/software-vulkan.sh || echo 'bench/host.py will say what it lacks' >&2
	$(BIN)/python bench/run.py

lock: $(VENV)/dev-installed
	cd ci/lock && $(CURDIR)/$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes \
		--no-header --no-emit-index-url --allow-unsafe --output-file run.txt ../../pyproject.toml build.in
	cd ci/lock && $(CURDIR)/$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes \
		--no-header --no-emit-index-url --allow-unsafe --constraint run.txt --output-file dev.txt \
		--group ../../pyproject.toml:test --group ../../pyproject.toml:lint --group ../../pyproject.toml:lock

clean:
	rm -rf $(VENV) build dist bench/results .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python: | ci/bootstrap.sh
	python=$$(ci/bootstrap.sh) && "$$python" -m venv $(VENV)

$(VENV)/run-installed: ci/lock/run.txt | $(BIN)/python
	$(PIP) install --quiet --require-hashes -r ci/lock/run.txt
	@touch $@

$(VENV)/dev-installed: ci/lock/dev.txt $(VENV)/run-installed
	$(PIP) install --quiet --require-hashes -r ci/lock/dev.txt
	@touch $@

# Editable: `python -m toolchain` and the samples then find the extension from this folder too.
$(VENV)/package-installed: $(PACKAGE_FILES) $(VENV)/run-installed
	$(PIP) install --quiet --no-deps --no-build-isolation --force-reinstall --editable .
	@touch $@
