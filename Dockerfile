# The agent with a headless Chromium whose sandbox is on. How to build and run it: docs/container.md.
FROM python:3.11-slim-bookworm AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /source
COPY . .
RUN python -m venv /opt/speccache && /opt/speccache/bin/pip install '.[mcp,metrics,otel,redis]'

FROM python:3.11-slim-bookworm

# Not pinned: of a browser that opens any page, a build is to have the newest security fixes.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends chromium-headless-shell fonts-liberation fonts-noto-cjk libatomic1 tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home speccache \
    && install --directory --owner=speccache --group=speccache /data
COPY --from=build /opt/speccache /opt/speccache

ENV PATH=/opt/speccache/bin:$PATH PYTHONUNBUFFERED=1
USER 10001:10001
WORKDIR /data
EXPOSE 8931

# Browsers leave processes behind when they are killed; tini reaps them, and hands signals on.
ENTRYPOINT ["tini", "--", "speccache"]
CMD ["mcp", "--http", "--host", "0.0.0.0"]
# Any answer will do, also one that asks for the token: the server is there, and its event loop turns.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 CMD ["python", "-c", \
    "from http.client import HTTPConnection as C; c = C('127.0.0.1', 8931, timeout=4); c.request('GET', '/mcp'); exit(c.getresponse().status >= 500)"]
