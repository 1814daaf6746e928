"""Records without a build, for what looks only at records."""

from __future__ import annotations

import sys
from pathlib import Path

from greenroom.recipes.model import (
    Build,
    BuildInputs,
    Distribution,
    Editable,
    Late,
    Python,
    Recipe,
    Wheel,
)
from greenroom.store import machine
from greenroom.store.model import SCHEMA, Clash, Fault, Installed, Record

__all__ = ["KEY", "OTHER", "record_of"]

KEY = "cp311-" + "a" * 24
OTHER = "cp312-" + "b" * 24


def record_of(key: str = KEY) -> Record:
    """Return a full record: one distribution of each kind, on this test's own interpreter."""
    path = str(Path(sys.executable).resolve())
    status = Path(path).stat()
    inputs = BuildInputs(requires=("setuptools==1",), variables=(("CFLAGS", None), ("CC", "cc")))
    return Record(
        schema=SCHEMA,
        key=key,
        recipe=Recipe(
            python=Python(path=path, implementation="cpython", version="3.11.7", abi="cp311"),
            distributions=(
                Distribution(
                    name="alpha", version="1", content=Wheel(file="alpha-1-py3-none-any.whl", sha256="0" * 64)
                ),
                Distribution(
                    name="beta",
                    version="2",
                    content=Build(source="git:" + "1" * 40, subdirectory="x", inputs=inputs),
                ),
                Distribution(name="gamma", version=None, content=Editable(path="/src/g")),
                Distribution(name="late", version="3", content=Late()),
            ),
            post_install=(("python", "-c", "print('ü')"),),
        ),
        installed=(Installed(name="alpha", version="1", record="2" * 64, wheel="0" * 64, files=3, size=300),),
        clashes=(Clash(path="lib/x.py", owners=("alpha", "beta"), winner="beta"),),
        base=(path, status.st_ino, status.st_size, status.st_mtime_ns),
        built_at=1_700_000_000.5,
        seconds=1.25,
        host="host",
        uv="0.11.0",
        greenroom="0.1.0",
        log="a.log",
        machine=machine.this_machine(),
        faults=(Fault(distribution="alpha", path="lib/y.py", size=1, sha256="3" * 64),),
    )
