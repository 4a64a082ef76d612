# The two commands of the README are `make demo` and `make test`; .ci/run runs both and `make lint`.
# Set-up is whatever cargo and pip do: the toolchain is pinned in rust-toolchain.toml, the crates in Cargo.lock, the
# Python packages that the tests need in python/requirements.txt. Everything is built and installed into target/.

CARGO ?= cargo
PYTHON ?= python3

.PHONY: help demo docs test test-rust test-python install develop lint fmt clippy doc lint-python bench bench-machine bench-solvers bench-interactions bench-python reproduce

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-19s %s\n", $$1, $$2}'

demo: ## build in release mode; a model of a file; Tables 1 and 2 of the paper at full size, Figure 1 at small size, into out/
	$(CARGO) run --release --locked -- fit examples/trial.csv --target effect --kernel poly --degree 1..2 --p 1.05 --select 4
	$(CARGO) run --release --locked -- reproduce table1 --no-baselines --repeats 2 --out out
	$(CARGO) run --release --locked -- reproduce figure1 --quick --out out
	$(CARGO) run --release --locked -- reproduce table2 --repeats 2 --out out

test: test-rust test-python ## every test

test-rust: ## the tests of the library and of the command
	$(CARGO) test --workspace --exclude banach-py --locked

test-python: install ## the tests of the Python package, as it is installed
	$(VENV)/bin/python -m pytest --quiet --numprocesses 2

# An environment with the Python package and all that its tests and examples need, and one with what it is measured against.
VENV := target/venv
PEERS := target/peers-venv

$(VENV)/installed: python/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

install: $(VENV)/installed ## the Python package and the command, into target/venv
	rm -f python/banach/_core.*.so
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall .

develop: $(VENV)/installed ## the same from the source tree, for work on the package: no installing after a change of Python files
	. $(VENV)/bin/activate && maturin develop --quiet --locked

docs: $(VENV)/installed ## the book, into target/book
	$(VENV)/bin/zensical build --strict

lint: fmt clippy doc docs lint-python ## everything that is not a test; the types of Python are tests

lint-python: $(VENV)/installed
	$(VENV)/bin/ruff check python examples experiments
	$(VENV)/bin/ruff format --check python examples experiments

fmt:
	$(CARGO) fmt --all --check

clippy:
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

bench: $(PEERS)/banach ## banach against what users would pick instead, 20 minutes on 2 cores; writes its part of docs/benchmarks.md
	cd experiments && $(CURDIR)/$(PEERS)/bin/python -m users

bench-machine: ## speed against the machine's own limits, the exact search, and reading files, as ratios in one run
	$(CARGO) run --release --locked -- bench
	$(CARGO) run --release --locked -- bench search
	$(CARGO) run --release --locked -- bench reading

$(PEERS)/installed: experiments/peers/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

# banach in its release build, as users would install it, when something has changed since.
$(PEERS)/banach: $(PEERS)/installed $(shell find crates experiments/src python/banach -name '*.rs' -o -name 'Cargo.toml' -o -name '*.py') Cargo.lock pyproject.toml
	rm -f python/banach/_core.*.so
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall .
	touch $@

bench-solvers: $(PEERS)/installed ## the solver against SciPy (installed into target/), and evaluations over a grid
	$(CARGO) run --release --locked -- bench solvers --python $(PEERS)/bin/python
	$(CARGO) run --release --locked -- bench grid
	$(CARGO) run --release --locked -- bench lockstep

bench-interactions: $(PEERS)/installed ## interactions against a Lasso (installed into target/), up to 1.25 billion monomials
	$(CARGO) run --release --locked -- bench interactions --python $(PEERS)/bin/python

bench-python: install ## what the Python layer costs, its memory, and Friedman's function against scikit-learn
	$(VENV)/bin/python experiments/python/overhead.py
	$(VENV)/bin/python experiments/python/memory.py
	$(VENV)/bin/python experiments/python/friedman.py

reproduce: ## the paper's experiments at full size, 15 to 30 minutes on 2 cores, as one page out/reproduction.html
	$(CARGO) run --release --locked -- reproduce all --out out
