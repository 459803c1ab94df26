# Two commands for a fresh machine: `make demo` and `make test`. Both build .venv first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test lint types format clean

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
