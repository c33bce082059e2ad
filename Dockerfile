# Plimsoll in a container, built from a clone: docker build -t plimsoll .
#   docker run --rm plimsoll run https://staging.example.com -u 20 -t 30s --headless
#   docker run --rm -p 8089:8089 -v "$PWD:/mnt/locust" plimsoll -f /mnt/locust/locustfile.py --web-host 0.0.0.0

FROM node:22-slim AS page
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY web ./
COPY python/plimsoll/report/charts/theme.json /src/python/plimsoll/report/charts/theme.json
RUN npm run build

FROM rust:1.95-slim-bookworm AS wheel
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /tools && /tools/bin/pip install --no-cache-dir 'maturin>=1.16,<2'
WORKDIR /src
COPY Cargo.toml Cargo.lock pyproject.toml README.md LICENSE ./
COPY crates crates
COPY labs/truth/target labs/truth/target
COPY labs/robustness/faults labs/robustness/faults
COPY labs/tunnels/tunnel labs/tunnels/tunnel
COPY python python
COPY --from=page /src/python/plimsoll/web python/plimsoll/web
RUN /tools/bin/maturin build --release --locked --out /wheels

FROM python:3.13-slim
# "locust,postgresql,kubernetes" adds the client with which the command makes Pods.
ARG EXTRAS=locust,postgresql
RUN useradd --create-home --uid 1000 plimsoll && mkdir -p /mnt/locust && chown plimsoll /mnt/locust
COPY --from=wheel /wheels /tmp/wheels
RUN pip install --no-cache-dir "$(echo /tmp/wheels/*.whl)[$EXTRAS]" && rm -rf /tmp/wheels
COPY container/entrypoint /usr/local/bin/plimsoll-entrypoint
# By number: Kubernetes checks that it is not root.
USER 1000
WORKDIR /home/plimsoll
EXPOSE 8089 5557
ENTRYPOINT ["plimsoll-entrypoint"]
