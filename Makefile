# SPDX-License-Identifier: Apache-2.0
# Everything here sets itself up in .venv on first use and again when pyproject.toml changes.

ATOM ?= SM80_16x8x16
ARGS ?=
CUDA ?= 13

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet

# Images of containers set this. Then each of the thousands of processes that tests start compiles all it imports anew.
unexport PYTHONDONTWRITEBYTECODE

# The first Python that is new enough; PYTHON=/path/to/python overrides it.
ifeq ($(origin PYTHON),undefined)
PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
endif

# A virtual environment does not survive a move of its folder, or the removal of its Python.
ifneq ($(shell $(PY) -c '' 2>/dev/null && cat $(VENV)/.home 2>/dev/null),$(CURDIR))
.PHONY: $(VENV)/.home
endif

.PHONY: help
help:
	@echo 'make verify ATOM=SM80_16x8x16   verify atoms (a name, a prefix, a glob; several in quotes); ARGS=-v adds flags'
	@echo 'make check                      lint, types, import contracts and the quick tests: a minute and a half'
	@echo 'make test                       the same with all tests: a quarter of an hour'
	@echo 'make generate                   write what is generated: schemas, tables of properties, rooms, catalogue'
	@echo 'make gpu CUDA=13                the tests that need a GPU, with CuPy for CUDA 12 or 13; none may be skipped'
	@echo 'make bench                      the speed gates; ARGS=laws measures that suite alone'
	@echo 'make docs                       the documentation as a site, in site/; ARGS=serve shows it'
	@echo 'make certificates               prove the laws with both solvers and rewrite their certificates'
	@echo 'make clean                      remove .venv, caches and build output'

.PHONY: verify
verify: $(VENV)/.run
	@set -f; $(PY) -m verify.atom $(foreach name,$(ATOM),'$(name)') $(ARGS)

# Tests that share an expensive fixture are one group, which one process runs. The last -m counts: an empty one runs all tests.
.PHONY: check
check: lint
	$(PY) -m pytest -n 2 --dist loadgroup -m 'not slow and not long' $(ARGS)

.PHONY: test
test: lint
	$(PY) -m pytest -n 2 --dist loadgroup -m '' $(ARGS)

.PHONY: lint
lint: $(VENV)/.dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports --no-logo

.PHONY: generate
generate: $(VENV)/.dev
	$(PY) -m tests.project.generate

.PHONY: gpu
gpu: $(VENV)/.dev
	$(PIP) install --editable '.[cuda$(CUDA)]'
	$(PY) -m pytest -m gpu --require-gpu $(ARGS)

.PHONY: bench
bench: $(VENV)/.bench
	$(PY) -m benchmarks $(ARGS)

.PHONY: docs
docs: $(VENV)/.dev
	$(PY) -m tests.site.build $(ARGS)

.PHONY: certificates
certificates: $(VENV)/.dev
	$(PY) -m proofs.laws.certificates $(ARGS)

.PHONY: clean
clean:
	rm -rf $(VENV) build dist site .cache .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.home:
	@test -n '$(PYTHON)' || { echo 'lanecheck needs Python 3.11 or newer: none was found; set PYTHON=/path/to/python' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'lanecheck needs Python 3.11 or newer; $(PYTHON) is not' >&2; exit 1; }
	@echo 'setting up $(VENV), once; this takes a minute' >&2
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); \
		echo 'lanecheck: $(PYTHON) cannot make a virtual environment (Debian and Ubuntu: apt install python3-venv)' >&2; exit 1; }
	@$(PIP) install --upgrade 'pip>=25.1'
	@echo '$(CURDIR)' > $@

$(VENV)/.run: pyproject.toml $(VENV)/.home
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.home
	@$(PIP) install --editable . --group dev
	@touch $@ $(VENV)/.run

# pycute, the baseline of some figures, needs none of what its wheel depends on.
$(VENV)/.bench: $(VENV)/.dev
	@$(PIP) install --no-deps --group bench
	@touch $@
