# make demo, make test: everything from a clean checkout, with nothing installed by hand.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
# pinned by the Python that runs: the newest packages are not made for 3.11 any more
CONSTRAINTS := constraints-$(shell $(PYTHON) -c 'import sys; print("3.13" if sys.version_info >= (3, 13) else "3.11")').txt
WORKERS ?= 2
# a file goes to one worker, which builds and compiles once what its tests share
SHARED := --dist loadfile --no-loadscope-reorder
INSTALLED := $(VENV)/.installed
INSTALLED_SPARK := $(VENV)/.installed-spark
INSTALLED_DOCS := $(VENV)/.installed-docs
DEMO := examples/invoices
LINTED := gnrs_ppl bench_maker training tools tests perf examples docs/conf.py

# the newest from 3.13 on, on PATH or among pyenv's; each is asked itself, as one on PATH may be a stand-in that does not run
PYTHON_NEWEST ?= $(shell for python in python3.15 python3.14 python3.13 \
    $$(ls -d "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.*/bin/python 2>/dev/null); do \
    "$$python" -c 'import pip, sys; v = sys.version_info; v[:2] >= (3, 13) and v[3] == "final" and print("%d.%03d.%03d" % v[:3], sys.executable)' \
    2>/dev/null; done | sort -r | sed -n '1s/^[^ ]* //p')
NEWEST := .venv-newest
READERS := .venv-readers

.PHONY: demo test test-engines test-all test-newest smoke-newest readers fuzz coverage lint format docs perf clean

# pip of the system installs into the environment, so that neither ensurepip nor a second pip is needed
$(INSTALLED): pyproject.toml $(CONSTRAINTS)
	$(PYTHON) -m venv --without-pip $(VENV)
	$(PYTHON) -m pip --python $(BIN)/python install --quiet --disable-pip-version-check -c $(CONSTRAINTS) -e '.[dev]'
	touch $@

$(INSTALLED_DOCS): $(INSTALLED)
	$(PYTHON) -m pip --python $(BIN)/python install --quiet --disable-pip-version-check -c $(CONSTRAINTS) -e '.[docs]'
	touch $@

# half a gigabyte, so that only the tests that ask Spark install it
$(INSTALLED_SPARK): $(INSTALLED)
	$(PYTHON) -m pip --python $(BIN)/python install --quiet --disable-pip-version-check -c $(CONSTRAINTS) -e '.[spark]'
	touch $@

demo: $(INSTALLED)
	$(BIN)/gnrs draft $(DEMO)/context.yaml --out build/demo
	@echo
	$(BIN)/gnrs audit --rule build/demo/rule.json --log $(DEMO)/events.csv || [ $$? -eq 1 ]

# the suite starts hundreds of processes: without bytecode on disk each reads the package's source anew
test test-all test-engines coverage: export PYTHONDONTWRITEBYTECODE :=

# every claim, at small counts
test: $(INSTALLED)
	$(BIN)/python -m pytest -m "not slow and not engine" -n $(WORKERS) $(SHARED)

# what asks a server of PostgreSQL, and Spark, at small counts
test-engines: $(INSTALLED_SPARK)
	$(BIN)/python -m pytest -m "engine and not slow" -n $(WORKERS) $(SHARED) tests/test_postgres.py tests/test_spark.py

# every test, at full counts, and the site
test-all: $(INSTALLED_SPARK) docs
	$(BIN)/python -m pytest -n $(WORKERS) $(SHARED)

# today's newest packages, whatever constraints say: the suite from the checkout, then every verb from the wheel
test-newest:
	@[ -n "$(PYTHON_NEWEST)" ] || { echo "no Python 3.13 was found; say make test-newest PYTHON_NEWEST=..." >&2; exit 1; }
	$(PYTHON_NEWEST) -m venv --clear --without-pip $(NEWEST)
	$(PYTHON_NEWEST) -m pip --python $(NEWEST)/bin/python install --quiet --disable-pip-version-check -e '.[dev]'
	$(NEWEST)/bin/python -m pytest -n $(WORKERS) $(SHARED)
	$(PYTHON_NEWEST) tests/smoke_wheel.py

# every verb from the wheel alone, on the newest Python that is there, with today's newest packages
smoke-newest:
	@if [ -n "$(PYTHON_NEWEST)" ]; then echo "smoke: $(PYTHON_NEWEST)"; $(PYTHON_NEWEST) tests/smoke_wheel.py; \
	else echo "smoke: skipped, no Python 3.13 or newer was found; say make smoke-newest PYTHON_NEWEST=..."; fi

# what is handed over, read by tools that others wrote, in environments of their own
readers: $(INSTALLED)
	$(PYTHON) -m venv --clear --without-pip $(READERS)
	$(PYTHON) -m pip --python $(READERS)/bin/python install --quiet --disable-pip-version-check \
	    'sarif-tools>=3' 'junitparser>=4' 'compliance-trestle>=4' 'dbt-core<1.11' 'dbt-duckdb<1.11'
	$(PYTHON) -m venv --clear --without-pip $(READERS)-declare
	$(PYTHON) -m pip --python $(READERS)-declare/bin/python install --quiet --disable-pip-version-check Declare4Py
	rm -rf build/readers
	PYTHONPATH=.:tests $(BIN)/python tests/readers.py write build/readers
	$(READERS)/bin/python tests/readers.py read build/readers
	$(READERS)-declare/bin/python tests/readers.py declare build/readers

fuzz: $(INSTALLED)
	GNRS_FUZZ=1 $(BIN)/python -m pytest -m fuzz -n $(WORKERS) --dist worksteal

# the fast tier with every line and branch counted, commands that tests start included; pages in build/coverage
coverage: $(INSTALLED)
	$(BIN)/python -m pytest -m "not slow and not engine" -n $(WORKERS) $(SHARED) --cov --cov-report=term --cov-report=html:build/coverage

lint: $(INSTALLED)
	$(BIN)/ruff check $(LINTED)
	$(BIN)/ruff format --check $(LINTED)
	$(BIN)/mypy

format: $(INSTALLED)
	$(BIN)/ruff check --fix $(LINTED)
	$(BIN)/ruff format $(LINTED)

# the site in build/site; a link, picture or name in a docstring that leads nowhere fails it
docs: $(INSTALLED_DOCS)
	JAX_PLATFORMS=cpu $(BIN)/python -m sphinx --fresh-env --fail-on-warning --quiet docs build/site

perf: $(INSTALLED)
	$(BIN)/python perf/startup.py
	$(BIN)/python perf/audit_scale.py
	$(BIN)/python perf/serve_page.py

clean:
	rm -rf $(VENV) $(NEWEST) $(READERS) $(READERS)-declare build
