# make demo, make test: everything from a clean checkout, with nothing installed by hand.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2
INSTALLED := $(VENV)/.installed
DEMO := examples/invoices

.PHONY: demo test fuzz lint format perf clean

# pip of the system installs into the environment, so that neither ensurepip nor a second pip is needed
$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv --without-pip $(VENV)
	$(PYTHON) -m pip --python $(BIN)/python install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: $(INSTALLED)
	$(BIN)/gnrs draft $(DEMO)/context.yaml --out build/demo
	@echo
	$(BIN)/gnrs audit --rule build/demo/rule.json --log $(DEMO)/events.csv || [ $$? -eq 1 ]

test: $(INSTALLED)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

fuzz: $(INSTALLED)
	GNRS_FUZZ=1 $(BIN)/python -m pytest -m fuzz -n $(WORKERS) --dist worksteal

lint: $(INSTALLED)
	$(BIN)/ruff check gnrs_ppl tests perf examples
	$(BIN)/ruff format --check gnrs_ppl tests perf examples
	$(BIN)/mypy

format: $(INSTALLED)
	$(BIN)/ruff check --fix gnrs_ppl tests perf examples
	$(BIN)/ruff format gnrs_ppl tests perf examples

perf: $(INSTALLED)
	$(BIN)/python perf/startup.py
	$(BIN)/python perf/audit_scale.py

clean:
	rm -rf $(VENV) build
