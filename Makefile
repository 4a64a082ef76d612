# The two commands of the README are `make demo` and `make test`; .ci/run runs both and `make lint`.
# Set-up is whatever cargo does: the toolchain is pinned in rust-toolchain.toml, the crates in Cargo.lock.

CARGO ?= cargo

.PHONY: help demo test lint fmt clippy doc bench bench-solvers bench-interactions reproduce

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-19s %s\n", $$1, $$2}'

demo: ## build in release mode; a model of a file; Tables 1 and 2 of the paper at full size, Figure 1 at small size, into out/
	$(CARGO) run --release --locked -- fit examples/trial.csv --target effect --kernel poly --degree 1..2 --p 1.05 --select 4
	$(CARGO) run --release --locked -- reproduce table1 --no-baselines --repeats 2 --out out
	$(CARGO) run --release --locked -- reproduce figure1 --quick --out out
	$(CARGO) run --release --locked -- reproduce table2 --repeats 2 --out out

test: ## every test
	$(CARGO) test --workspace --locked

lint: fmt clippy doc ## everything that is not a test

fmt:
	$(CARGO) fmt --all --check

clippy:
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

bench: ## the measured figures, as ratios in one run
	$(CARGO) run --release --locked -- bench
	$(CARGO) run --release --locked -- bench search

# The other libraries of the comparison, in an environment of their own.
PYTHON ?= python3
PEERS := target/peers-venv

$(PEERS)/installed: experiments/peers/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

bench-solvers: $(PEERS)/installed ## the solver against SciPy (installed into target/), and evaluations over a grid
	$(CARGO) run --release --locked -- bench solvers --python $(PEERS)/bin/python
	$(CARGO) run --release --locked -- bench grid
	$(CARGO) run --release --locked -- bench lockstep

bench-interactions: $(PEERS)/installed ## interactions against a Lasso (installed into target/), up to 1.25 billion monomials
	$(CARGO) run --release --locked -- bench interactions --python $(PEERS)/bin/python

reproduce: ## the paper's experiments at full size, 15 to 30 minutes on 2 cores, as one page out/reproduction.html
	$(CARGO) run --release --locked -- reproduce all --out out
