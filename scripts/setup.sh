# Make an environment for a script of this folder. Sourced, never run.
#
# Needs Python 3.11 or newer and the package index; uses uv where it is, else brings it by pip.
# shellcheck shell=bash

uv=''  # the path of uv, once make_environment has run

# What an activated environment or a machine's habits would change.
unset VIRTUAL_ENV CONDA_PREFIX PYTHONHOME PYTHONPATH PYTHONDONTWRITEBYTECODE
# pip's index counts for uv too, unless uv has one of its own.
if [[ -n ${PIP_INDEX_URL:-} && -z ${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-} ]]; then
    export UV_DEFAULT_INDEX=$PIP_INDEX_URL
fi

# find_python: print the path of an interpreter, $PYTHON first.
find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            # The base, not an environment, and not a shim that answers by directory.
            "$candidate" -c 'import os, sys; print(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))'
            return
        fi
    done
    echo "no Python 3.11 or newer found: install one, or name it in PYTHON" >&2
    return 1
}

# make_environment DIRECTORY: an environment with the interpreter above, and in $uv a uv to fill it with.
make_environment() {
    local python
    python=$(find_python)
    if command -v uv >/dev/null; then
        uv=$(command -v uv)
        "$uv" venv --quiet --clear --python "$python" "$1"
    else
        "$python" -m venv --clear "$1" || {
            echo "$python cannot make environments: install its venv package, or uv" >&2
            return 1
        }
        "$1/bin/python" -m pip install -qq --disable-pip-version-check uv
        uv=$1/bin/uv
    fi
}
