# Two commands for a fresh machine: `make demo` and `make test`. Both build .venv first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo results test lint types format clean

$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is %d.%d (set PYTHON=...)" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

# Solves the hand in quick mode, prints a table, draws a plot and answers one question; all output goes to out/.
demo: $(VENV)/.installed
	@mkdir -p out
	$(BIN)/truco solve --time 2m --out out/base.truco
	$(BIN)/truco table envido --seat mano --solution out/base.truco
	$(BIN)/truco plot envido --solution out/base.truco --out out/envido.png
	$(BIN)/truco advise "7O 6O 4B" --mano --solution out/base.truco --roll
	@echo "solution: out/base.truco    picture: out/envido.png"

# Remakes results/: for each preset a solve of three minutes, its tables and plots, and its duels (15 minutes).
results: $(VENV)/.installed
	@mkdir -p out
	set -e; for rules in base argentino; do \
	  dir=results/$${rules}_0-0; file=out/$${rules}_0-0.truco; mkdir -p $$dir; \
	  $(BIN)/truco solve --rules $$rules --time 3m --out $$file --json > $$dir/solution.json; \
	  for topic in envido truco mazo response; do \
	    $(BIN)/truco table $$topic --solution $$file --out $$dir/$$topic.csv; done; \
	  for kind in envido response truco heatmap; do \
	    $(BIN)/truco plot $$kind --solution $$file --out $$dir/$$kind.png; done; \
	  for bot in heuristic caller maniac random; do \
	    $(BIN)/python -m scripts.match_bots $$file $$bot --rules $$rules --json > $$dir/against_$$bot.json; done; \
	done

test: $(VENV)/.installed
	$(BIN)/python -m pytest

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

format: $(VENV)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache out
