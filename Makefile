# Two commands for a fresh machine: `make demo` and `make test`. Both build .venv first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo results equity test test-long lint types format clean

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
	set -e; dir=results/base_0-0_vector; \
	answers='--to envido --to real_envido --to falta_envido --to envido,envido --to envido,real_envido'; \
	for what in envido "response $$answers"; do name=$${what%% *}; \
	  $(BIN)/truco table $$what --out $$dir/$$name.csv; $(BIN)/truco plot $$what --out $$dir/$$name.png; done; \
	$(BIN)/truco plot heatmap --out $$dir/heatmap.png

# Finishes the sweep of results/equity/base (all of it: an hour or two on 2 free cores), then makes the table that the
# commands read, its pictures and its checks. Interrupted, it goes on. SWEEP are options of `truco equity solve`.
SWEEP  ?= --workers 2 --iterations 80 --late 40 --pairs 24000
EQUITY := results/equity
equity: $(VENV)/.installed
	@mkdir -p out game/truco/data
	$(BIN)/truco equity solve $(SWEEP) --keep out/strategies
	$(BIN)/truco equity export --equity $(EQUITY)/base --out $(EQUITY)/base.csv
	cp $(EQUITY)/base.csv game/truco/data/equity_base.csv
	for view in mano pie being-mano point; do $(BIN)/truco equity plot --view $$view --out $(EQUITY)/$$view.png; done
	$(BIN)/truco plot score-sweep --strategies out/strategies --seat mano --own-envido 27 --action envido \
	  --rounds 4 --out $(EQUITY)/opens_envido_27.png
	$(BIN)/truco plot score-sweep --strategies out/strategies --seat pie --to falta_envido --own-envido 30 \
	  --rounds 4 --out $(EQUITY)/accepts_falta_30.png
	$(BIN)/truco equity check --equity $(EQUITY)/base --strategies out/strategies --matches 50000 \
	  --again 13-14 --again 13-13 --again 9-7 --again 4-4 --again 0-0 --json > $(EQUITY)/check.json

# Files of tests run side by side, one process a core; compiled kernels are kept for the next run.
test: $(VENV)/.installed
	OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=2 $(BIN)/python -m pytest --numprocesses auto --dist loadfile

# The published figures of the full deck again, about two hours.
test-long: $(VENV)/.installed
	$(BIN)/python -m pytest -m long

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
