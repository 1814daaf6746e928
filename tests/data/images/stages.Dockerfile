# syntax=docker/dockerfile:1
# Written by `greenroom image dockerfile`: it can be written again.
#
#   docker build --secret id=netrc,src=$HOME/.netrc .    (for private indexes; the secret may be absent)
#   docker run --read-only --network none IMAGE greenroom status
#
# For several platforms (docker buildx build --platform linux/amd64,linux/arm64 .) each has environments and
# keys of its own.
#
# The wheels of late packages come from a build context of their own, in a folder for each stage:
#   docker build --build-context late-wheels=wheels .    with wheels/trt/*.whl
# or from a stage `FROM ... AS late-wheels` that compiles them to /trt/. It may hold wheels for all
# platforms: the one for the platform is taken.

FROM python:3.12-slim AS base
ARG GREENROOM=greenroom=={version}
RUN --mount=type=cache,id=pip,target=/var/cache/pip \
    PIP_CACHE_DIR=/var/cache/pip \
    python -m pip install --disable-pip-version-check --root-user-action=ignore "$GREENROOM"
ENV GREENROOM_STORE=/opt/greenroom
WORKDIR /app

FROM base AS stage-deps
COPY ["greenroom.toml", "pyproject.toml", "uv.lock", "./"]
RUN --mount=type=cache,id=greenroom,target=/var/cache/greenroom \
    --mount=type=secret,id=netrc,target=/run/secrets/netrc \
    export XDG_CACHE_HOME=/var/cache/greenroom NETRC=/run/secrets/netrc \
 && greenroom image sync --stage deps \
 && greenroom image prune-cache

FROM stage-deps AS stage-trt
RUN --mount=type=cache,id=greenroom,target=/var/cache/greenroom \
    --mount=type=secret,id=netrc,target=/run/secrets/netrc \
    --mount=type=bind,from=late-wheels,source=/trt,target=/wheels \
    export XDG_CACHE_HOME=/var/cache/greenroom NETRC=/run/secrets/netrc \
 && greenroom image sync --stage trt --find-links /wheels \
 && greenroom image prune-cache

FROM stage-trt AS stage-fast
RUN --mount=type=cache,id=greenroom,target=/var/cache/greenroom \
    --mount=type=secret,id=netrc,target=/run/secrets/netrc \
    --mount=type=bind,from=late-wheels,source=/fast,target=/wheels \
    export XDG_CACHE_HOME=/var/cache/greenroom NETRC=/run/secrets/netrc \
 && greenroom image sync --stage fast --find-links /wheels \
 && greenroom image prune-cache

FROM stage-fast AS stage-local
COPY [".", "./"]
RUN --mount=type=cache,id=greenroom,target=/var/cache/greenroom \
    --mount=type=secret,id=netrc,target=/run/secrets/netrc \
    export XDG_CACHE_HOME=/var/cache/greenroom NETRC=/run/secrets/netrc \
 && greenroom image sync --stage local \
 && greenroom image freeze \
 && greenroom image prune-cache
USER 65532:65532
