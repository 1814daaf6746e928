# syntax=docker/dockerfile:1
# Written by `greenroom image dockerfile`: it can be written again.
#
#   docker build --secret id=netrc,src=$HOME/.netrc .    (for private indexes; the secret may be absent)
#   docker run --read-only --network none IMAGE greenroom status
#
# For several platforms (docker buildx build --platform linux/amd64,linux/arm64 .) each has environments and
# keys of its own.

FROM registry.example/base:1 AS base
ENV GREENROOM_STORE=/opt/greenroom
WORKDIR /app

FROM base AS stage-deps
COPY ["greenroom.lock/pylock.math.toml", "./greenroom.lock/"]
COPY ["greenroom.toml", "./"]
COPY ["servers/a b/requirements.txt", "./servers/a b/"]
COPY ["servers/base.txt", "./servers/"]
COPY ["servers/math/requirements.txt", "./servers/math/"]
RUN --mount=type=cache,id=greenroom,target=/var/cache/greenroom \
    --mount=type=secret,id=netrc,target=/run/secrets/netrc \
    export XDG_CACHE_HOME=/var/cache/greenroom NETRC=/run/secrets/netrc \
 && greenroom image sync --stage deps \
 && greenroom image prune-cache

FROM stage-deps AS stage-local
COPY [".", "./"]
RUN --mount=type=cache,id=greenroom,target=/var/cache/greenroom \
    --mount=type=secret,id=netrc,target=/run/secrets/netrc \
    export XDG_CACHE_HOME=/var/cache/greenroom NETRC=/run/secrets/netrc \
 && greenroom image sync --stage local \
 && greenroom image freeze \
 && greenroom image prune-cache
USER 65532:65532
