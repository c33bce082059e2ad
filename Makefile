# Every verb of the project, here and in CI. `make help` lists them.

PYTHON ?= python3.11
BIN    := .venv/bin
RUST   := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
WHEELS := pyproject.toml
WEB    := $(shell find web -name node_modules -prune -o -path web/tests -prune -o -name contract.ts -o -type f -print) python/plimsoll/report/charts/theme.json
PAGE   := python/plimsoll/web/report.js
# Tests of whole runs wait more than they compute. One that lasts long must not be the last of its file.
PYTEST := $(BIN)/pytest -q --dist worksteal
LABS   := target/release/plimsoll-truth target/release/plimsoll-tunnel target/release/libplimsoll_faults.so tests/parity/.venv/.done
# What tests, labs and benches run besides PostgreSQL.
SERVERS := nginx:nginx-light wrk:wrk h2load:nghttp2-client prometheus:prometheus influxd:influxdb victoria-metrics:victoria-metrics openssl:openssl ip:iproute2 microsocks:microsocks chromium:chromium
# Servers that only tests of HTTP/2 need, beside nginx and Node; Go comes with the machine, others with .venv.
HTTP2_SERVERS := apache2:apache2-bin caddy:caddy
# A real sshd, for tests of workers that ssh starts.
SSH_SERVER := /usr/sbin/sshd:openssh-server
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Some images forbid Python to keep byte code. The tests start thousands of processes, and each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup system page demo check check-macos test ci test-rust test-python test-web compiled-tests test-newest test-long test-portable wheels deb homebrew release-check parity truth truth-quick robustness bench bench-wheel bench-page bench-reports bench-observe bench-outputs otel-collector prometheus kubernetes bench-startup bench-coordinator bench-scaling soak fuzz corpus scenarios labs lab-forum lab-keys lab-todos lab-tunnels docs docs-outputs docs-pictures format clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

setup: system page .venv/.done labs/.venv/.done ## install everything into .venv, build the engine and the page

system: ## install PostgreSQL, nginx and wrk where they are missing and we may
	@scripts/system-packages $(SERVERS)

page: $(PAGE) ## build the web page alone (needs Node 20.19 or later)

# Nothing that only tests and checks need. The engine keeps both cores busy for a part of its time only.
demo: ## load a real PostgreSQL-backed service for 30 s and show the result
	@scripts/system-packages
	@$(MAKE) --no-print-directory --jobs=3 .venv/.engine page labs/.venv/.done
	@$(BIN)/python -m labs.todos.demo

# Compilers and linters each leave a core idle for part of their time, so two run side by side; the tests come alone.
test: system ## what every change must pass
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=recurse check test-rust test-web $(LABS) compiled-tests
	@$(MAKE) --no-print-directory test-python

ci: export DURATIONS = --durations=30
ci: export CARGO_INCREMENTAL = 0
ci: export LONG_SECONDS = 120
# An engine that is optimized crate by crate takes three quarters of the compilers' time. Users get that of `make wheels`.
ci: export CARGO_PROFILE_RELEASE_LTO = off
ci: export CARGO_PROFILE_RELEASE_CODEGEN_UNITS = 16
ci: test ## what CI runs: test, and two minutes of the long tests of what changed since the last landed commit
	@scripts/system-packages $(HTTP2_SERVERS) $(SSH_SERVER)
	@$(BIN)/python -m scripts.long_tests $(PYTEST) -n 4 $(DURATIONS) -m "long and not exhaustive"

test-rust: ## the crates' tests
	env -u MAKEFLAGS cargo test --workspace --locked --quiet # its rustdoc would warn that it cannot join a parallel make

test-web: page ## the page's own tests
	npm --prefix web test --silent

test-python: setup $(LABS) target/statsd ## the package's tests, and those of the labs and benches that are quick
	@$(BIN)/python -m scripts.repeat_failed $(PYTEST) -n 6 $(DURATIONS)

# Pytest compiles each test file once. Its processes would all begin with that, side by side, for the same files.
compiled-tests: setup
	@$(PYTEST) -n 0 --collect-only -qq > target/compiled-tests.log || { cat target/compiled-tests.log; exit 1; }

test-newest: setup ## quick tests of users and load on the newest Python of this machine (two minutes)
	@$(BIN)/python -m scripts.newest_python

test-long: setup $(LABS) ## browser, documents, parity, labs, simulations and fuzzing (about twenty minutes)
	@scripts/system-packages $(HTTP2_SERVERS) $(SSH_SERVER)
	$(PYTEST) -n 4 $(DURATIONS) -m long

check: setup ## formatting, lints, layers, types; the stub against the binary
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/stubtest plimsoll._engine --concise
	npm --prefix web run lint --silent

format: setup ## rewrite the sources as the checks want them
	cargo fmt --all
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	npm --prefix web run format --silent

bench: setup benches/.venv/.done target/release/examples/native target/release/examples/echo target/release/examples/tungstenite ## our own cost, side by side with peers (about thirty-five minutes)
	@$(BIN)/python -m benches

# Distributions and containers have a Python that was built with a profile; pyenv builds one without.
WHEEL_PYTHON ?= /usr/bin/python3
WHEEL        = $(wildcard dist/*manylinux*_$(shell uname -m).whl)
bench-wheel: setup benches/.venv/.done target/release/examples/native target/release/examples/echo target/release/examples/tungstenite ## bench, of the wheel in dist as users install it (after make wheels); WHEEL_PYTHON=/usr/bin/python3
	@test -n "$(WHEEL)" || { echo "bench-wheel: no wheel for this machine in dist: make wheels" >&2; exit 2; }
	@rm -rf target/bench-wheel
	@$(WHEEL_PYTHON) -m venv --without-pip target/bench-wheel
	@scripts/step "installing the wheel" $(BIN)/pip --python target/bench-wheel/bin/python install --quiet "$(WHEEL)[locust]"
	@target/bench-wheel/bin/python -m benches

bench-page: setup ## what an open page costs the load, and how soon it paints (about four minutes)
	@$(BIN)/python -m benches.page

bench-reports: setup ## how long a report and an export of an hour-long run take (about two minutes)
	@$(BIN)/python -m benches.reports

bench-observe: setup ## what observing the target's side costs (about two minutes)
	@$(BIN)/python -m benches.observe

bench-outputs: setup ## what sending the figures of a run elsewhere costs (half a minute)
	@$(BIN)/python -m benches.outputs

otel-collector: target/otel-collector ## OpenTelemetry's collector, for tests/outputs/otlp (needs Go; ten minutes)

target/otel-collector: tests/outputs/otlp/collector/main.go tests/outputs/otlp/collector/go.mod
	mkdir -p target/otel-collector-build
	cp $^ target/otel-collector-build
	cd target/otel-collector-build && go mod tidy -e && go build -trimpath -ldflags "-s -w" -o ../otel-collector .

target/statsd:
	@scripts/step "installing StatsD, to which a test sends" npm --prefix $@ install --no-audit --no-fund --omit=optional --loglevel=error statsd@0.9.0

prometheus: target/prometheus ## a Prometheus that takes remote write 2.0, for tests/outputs/remote_write (needs Go; twenty minutes)

target/prometheus: tests/outputs/remote_write/prometheus/tools.go tests/outputs/remote_write/prometheus/go.mod
	mkdir -p target/prometheus-build
	cp $^ target/prometheus-build
	cd target/prometheus-build && go mod tidy -e && \
		go build -trimpath -ldflags "-s -w" -tags remove_all_sd -o ../prometheus github.com/prometheus/prometheus/cmd/prometheus

kubernetes: target/kubernetes/control-plane ## a control plane of Kubernetes, for tests/run/placers (needs Go; twenty-five minutes)

# The versions are those of go.mod, which the servers say of themselves.
target/kubernetes/control-plane: tests/run/placers/kubernetes_program/main.go tests/run/placers/kubernetes_program/go.mod
	mkdir -p target/kubernetes-build target/kubernetes
	cp $^ target/kubernetes-build
	cd target/kubernetes-build && go mod tidy -e && \
		go build -trimpath -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v1.34.3 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=34" -o ../kubernetes/control-plane .

bench-startup: setup ## how long after Enter the first request of a run leaves (one minute)
	@$(BIN)/python -m benches.startup

bench-coordinator: setup ## how many workers one coordinator takes (half a minute)
	@$(BIN)/python -m benches.coordinator

bench-scaling: setup target/release/examples/sink ## whether two workers send twice what one sends (three minutes)
	@$(BIN)/python -m benches.scaling

soak: setup ## half an hour at 20,000 requests/s: does our memory stay flat? WITH='page new-server-timing new-labels' adds what a target and a viewer do
	@$(BIN)/python -m benches.soak $(if $(WITH),--with $(WITH))

parity: setup tests/parity/.venv/.done ## the same locustfiles under Locust and here: what is equal, what differs and why (about 6 minutes)
	@scripts/system-packages mosquitto:mosquitto
	@$(BIN)/python -m tests.parity --jobs 2

lab-forum lab-keys lab-todos lab-tunnels: setup target/release/plimsoll-tunnel ## make the report of a lab again, in about 14 minutes; FULL=1 at the published length
	@$(BIN)/python -m labs.run $(@:lab-%=%) $(if $(FULL),--full)

labs: lab-forum lab-keys lab-todos lab-tunnels ## all of them, one after the other (about an hour)

robustness: setup target/release/plimsoll-truth target/release/libplimsoll_faults.so ## kill, stop, interrupt and starve runs at random moments: is any promise broken? (a quarter of an hour)
	@$(BIN)/python -m labs.robustness

truth: setup benches/.venv/.done target/release/plimsoll-truth ## every figure against a target whose behaviour is known, and who else reports it (about 20 minutes)
	@scripts/system-packages hey:hey ab:apache2-utils
	@$(BIN)/python -m labs.truth --peers --readme

truth-quick: setup target/release/plimsoll-truth ## the same in short runs, without peers (about 4 minutes)
	@$(BIN)/python -m labs.truth --quick

test-portable: setup $(LABS) ## the tests with the engine for other Unixes, but those that need stamps of the kernel (about fifteen minutes)
	cargo test -p plimsoll-engine --features portable --locked --quiet
	rm -f .venv/.engine
	$(BIN)/maturin develop --release --locked --quiet --features pyo3/extension-module,pyo3/abi3-py311,portable
	$(PYTEST) -n 6 -m "not long and not kernel_stamps"
	@rm -f python/plimsoll/_engine.*.so && $(MAKE) --no-print-directory .venv/.engine

check-macos: .venv/.done ## whether the engine compiles for macOS, on both CPUs; C is compiled by zig
	@$(BIN)/pip install --quiet ziglang
	rustup --quiet target add aarch64-apple-darwin x86_64-apple-darwin
	@scripts/check-macos

wheels: setup target/release/plimsoll-truth ## what a release uploads, in dist: wheels for all Linuxes, tried with each Python here, and the sources (about twenty minutes); NO_PROFILE=1 without training (ten)
	@$(BIN)/pip install --quiet 'maturin[zig]'
	@$(BIN)/python -m scripts.wheels $(if $(NO_PROFILE),--no-profile)

deb: .venv/.done ## a Debian package of the wheel in dist, for the Python of this system; as root it is also installed, used and removed
	@$(BIN)/python -m scripts.deb
	@[ "$$(id -u)" != 0 ] || $(BIN)/python -m scripts.deb --check dist/*_$$(dpkg --print-architecture).deb

homebrew: .venv/.done ## the Homebrew formula, with the newest dependencies that the wheel allows
	@$(BIN)/python scripts/homebrew.py lock

release-check: wheels docs check-macos ## all that a release needs: wheels, site, licences, advisories, bill of materials, checksums; OFFLINE=1 without advisories, NO_PROFILE=1 without training (about twenty-five minutes)
	@$(BIN)/pip install --quiet zizmor
	@$(BIN)/python -m scripts.release $(if $(OFFLINE),--offline)

docs: setup ## the documentation as a site, in target/docs
	@$(BIN)/python -m scripts.site

docs-outputs: setup ## the outputs that the documentation shows, from the commands above them (about five minutes)
	@$(BIN)/python -m scripts.documents

docs-pictures: setup ## the pictures of the documentation, from a real run
	@$(BIN)/python -m scripts.pictures

fuzz: setup ## damaged input for everything that reads some (about thirteen minutes)
	$(BIN)/python -m fuzz.engine
	$(BIN)/python -m fuzz.files

SCENARIOS := target/scenarios
scenarios: setup $(SCENARIOS)/.done ## record real applications with Chromium, and prove their scenarios; NAMES="redmine oidc" are some of them (ten minutes)
	@$(BIN)/python -m tests.scenarios $(NAMES)

# Each has its own way of installation: a Python environment, Node's packages, a program of Go, Debian's packages.
$(SCENARIOS)/.done: tests/scenarios/requirements.txt tests/scenarios/package.json
	@scripts/system-packages chromium:chromium puma:puma php:php-cli mariadbd:mariadb-server go:golang-go
	@scripts/step "installing Redmine and WordPress" scripts/system-packages /usr/share/redmine/config.ru:redmine /var/lib/dpkg/info/redmine-sqlite.list:redmine-sqlite /usr/share/wordpress/wp-load.php:wordpress
	@$(PYTHON) -m venv $(SCENARIOS)/venv
	@scripts/step "installing JupyterHub, Kinto and django-oscar" $(SCENARIOS)/venv/bin/pip install --quiet -r $<
	@mkdir -p $(SCENARIOS)/node && cp tests/scenarios/package.json $(SCENARIOS)/node
	@scripts/step "installing Vendure, and OpenID's provider and client" npm --prefix $(SCENARIOS)/node install --no-audit --no-fund --loglevel=error
	@GOBIN=$(CURDIR)/$(SCENARIOS)/bin scripts/step "building PocketBase" go install github.com/pocketbase/pocketbase/examples/base@v0.30.4
	@touch $@

corpus: setup ## whether all outputs of stored runs are byte for byte those of before (a minute or two); ACCEPT=1 writes them anew
	@$(BIN)/python -m tests.corpus $(if $(ACCEPT),--accept)

clean: ## remove what setup, builds and tests made
	rm -rf .venv .grimp_cache target fuzz/target fuzz/corpus fuzz/artifacts labs/.venv benches/.venv tests/parity/.venv
	rm -rf web/node_modules web/src/contract.ts python/plimsoll/web/live $(PAGE) $(PAGE:.js=.css)

.venv/.made: $(WHEELS)
	@scripts/step "making .venv" $(PYTHON) -m venv .venv
	@scripts/step "installing pip and maturin" $(BIN)/pip install --quiet --upgrade pip 'maturin>=1.16,<2'
	@touch $@

.venv/.done: $(WHEELS) | .venv/.engine
	@scripts/step "installing what tests and checks need (a minute)" $(BIN)/pip install --quiet --group dev
	@touch $@

.venv/.engine: .venv/.made $(RUST)
	@rm -f python/plimsoll/_engine.*.so
	@scripts/step "building the engine (two minutes at first)" $(BIN)/maturin develop --release --locked --quiet --extras locust
	@touch $@

web/node_modules/.done: web/package-lock.json
	@scripts/check-node
	@scripts/step "installing what builds the page" npm --prefix web ci --no-audit --no-fund --loglevel=error
	@touch $@

$(PAGE): web/node_modules/.done $(WEB)
	@scripts/step "building the page" npm --prefix web run build --silent
	@touch $@

labs/.venv/.done: labs/requirements.txt
	@$(PYTHON) -m venv labs/.venv
	@labs/.venv/bin/pip install --quiet --upgrade pip
	@scripts/step "installing the services of the labs" labs/.venv/bin/pip install --quiet -r $<
	@touch $@

tests/parity/.venv/.done: tests/parity/requirements.txt
	@$(PYTHON) -m venv tests/parity/.venv
	@tests/parity/.venv/bin/pip install --quiet --upgrade pip
	@scripts/step "installing Locust, to compare with" tests/parity/.venv/bin/pip install --quiet -r $<
	@touch $@

benches/.venv/.done: benches/requirements.txt
	@$(PYTHON) -m venv benches/.venv
	@benches/.venv/bin/pip install --quiet --upgrade pip
	@scripts/step "installing what benches compare with" benches/.venv/bin/pip install --quiet -r $<
	@touch $@

target/release/plimsoll-tunnel: Cargo.toml Cargo.lock $(shell find labs/tunnels/tunnel -name '*.rs' -o -name Cargo.toml)
	@scripts/step "building the tunnels" cargo build --release --locked --quiet -p plimsoll-tunnel
	@touch $@

target/release/plimsoll-truth: Cargo.toml Cargo.lock $(shell find labs/truth/target -name '*.rs' -o -name Cargo.toml)
	@scripts/step "building the target of the truth lab" cargo build --release --locked --quiet -p plimsoll-truth

target/release/libplimsoll_faults.so: Cargo.toml Cargo.lock $(shell find labs/robustness/faults -name '*.rs' -o -name Cargo.toml)
	@scripts/step "building the injector of faults" cargo build --release --locked --quiet -p plimsoll-faults

target/release/examples/%: $(RUST)
	@scripts/step "building what benches run: $*" cargo build --release --locked --quiet -p plimsoll-engine --example $*
	@touch $@
