"""Build what is not a wheel, once for each set of inputs, into the store's own wheels.

A wheel's place is told by its key: source, interpreter, build requirements, settings and variables.
Builds are not reproducible, so whoever needs the same inputs takes the wheel that is there; its digest
stands in a record beside it. The directory appears by one rename, complete.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
from typing import TYPE_CHECKING

from greenroom.builder import sources, wheelrecords
from greenroom.builder.fetching import sha256_of
from greenroom.builder.wheelrecords import WheelRecord
from greenroom.errors import WrongWheel
from greenroom.locks.model import BuildSettings
from greenroom.recipes.keys import wheel_key
from greenroom.recipes.model import Build
from greenroom.store import locking
from greenroom.uv import commands, settings

if TYPE_CHECKING:
    from greenroom.builder.workplace import Workplace
    from greenroom.recipes.model import Distribution, Origins

__all__ = ["obtain", "stored"]


def stored(place: Workplace, build: Build) -> WheelRecord | None:
    """Return the wheel that the store holds for these inputs, None when there is none."""
    return wheelrecords.read(place.run.store, wheel_key(build, place.job.recipe.python))


def obtain(place: Workplace, distribution: Distribution, origin: Origins, python: str) -> WheelRecord:
    """Return the store's wheel of a source, built now unless it is there.

    :param python: the base interpreter; for a build without isolation the interpreter of the
        environment that holds what it sees.
    :raises BuildFailed: the source cannot be had, or the build failed.
    """
    build = distribution.content
    assert isinstance(build, Build)  # noqa: S101 - for the type checker: callers choose by it
    found = stored(place, build)
    if found is not None:
        return found
    key = wheel_key(build, place.job.recipe.python)
    store, title = place.run.store, _title(distribution)
    with locking.hold(
        store.lock(key),
        f"building {title}",
        on_wait=lambda holder: place.waits(f"the wheel of {title}", str(holder)),
        cancelled=place.run.stopped,
    ) as lock:
        found = stored(place, build)  # another one built it while we waited
        if found is not None:
            return found
        _remove_leftovers(place, key)
        folder = tempfile.mkdtemp(prefix=f"{key}.", dir=store.building)  # mode 0700
        try:
            return _made(place, distribution, origin, python, folder, lock.fd)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _made(
    place: Workplace, distribution: Distribution, origin: Origins, python: str, folder: str, descriptor: int
) -> WheelRecord:
    build = distribution.content
    assert isinstance(build, Build)  # noqa: S101 - see obtain
    began = time.monotonic()
    place.enter("build", _title(distribution))
    variables = _variables(place, build)
    source = sources.bring(place, build, origin, folder, variables)
    if place.phase != "build":  # there was a download
        place.enter("build", _title(distribution))
    out = os.path.join(folder, "wheel")
    os.mkdir(out)
    place.uv(
        commands.build_wheel(
            source,
            out,
            python=python,
            config=_config(place, distribution, build, folder),
            isolated=build.inputs.isolated,
            offline=place.run.offline,
        ),
        variables=variables,
        descriptors=(descriptor,),
    )
    file = _checked(place, distribution, out)
    record = WheelRecord(
        key=wheel_key(build, place.job.recipe.python),
        name=distribution.name,
        version=distribution.version,
        file=file,
        sha256=sha256_of(os.path.join(out, file)),
        size=os.path.getsize(os.path.join(out, file)),
        build=build,
        python=place.job.recipe.python,
        uv=place.run.uv_version(),
        host=socket.gethostname(),
        built_at=time.time(),
        seconds=time.monotonic() - began,
        log=place.log.name,
    )
    wheelrecords.commit(place.run.store, record, out)
    return record


def _variables(place: Workplace, build: Build) -> dict[str, str]:
    """Return what a build may read: the passed list and the declared variables, as the key says."""
    declared = dict(build.inputs.variables)
    passed = settings.variables(place.run.environ)
    kept = {name: value for name, value in passed.items() if name not in declared}
    return kept | {name: value for name, value in declared.items() if value is not None}


def _config(place: Workplace, distribution: Distribution, build: Build, folder: str) -> str:
    inputs = build.inputs
    own = BuildSettings(
        config_settings=inputs.settings,
        build_constraints=inputs.constraints,
        extra_build_requires=((distribution.name, tuple((line, False) for line in inputs.requires)),),
    )
    text = settings.config_text(place.run.transport, place.job.supply.indexes, own)
    path = os.path.join(folder, "uv.toml")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _checked(place: Workplace, distribution: Distribution, out: str) -> str:
    """Return the name of the one wheel in ``out``, which must be the one that the lock means."""
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename  # noqa: PLC0415 - heavy
    from packaging.version import Version  # noqa: PLC0415 - heavy

    names = [name for name in os.listdir(out) if name.endswith(".whl")]
    if len(names) != 1:
        raise place.failing(f"the build gave {len(names)} wheels", WrongWheel)
    try:
        name, version, _, tags = parse_wheel_filename(names[0])
    except InvalidWheelFilename as error:
        raise place.failing(str(error), WrongWheel) from error
    expected = distribution.version
    if name != distribution.name or (expected is not None and version != Version(expected)):
        raise place.failing(
            f"the build gave {name} {version}, the lock says {_title(distribution)}", WrongWheel, "lock anew"
        )
    if not any(str(tag) in place.job.interpreter.tags for tag in tags):
        raise place.failing(f"{names[0]} is not for this platform and interpreter", WrongWheel)
    return names[0]


def _remove_leftovers(place: Workplace, key: str) -> None:
    """Remove what killed builds of this wheel left: the lock is ours, so nobody uses it."""
    for name in os.listdir(place.run.store.building):
        if name.startswith(f"{key}."):
            shutil.rmtree(os.path.join(place.run.store.building, name), ignore_errors=True)


def _title(distribution: Distribution) -> str:
    return f"{distribution.name} {distribution.version or ''}".rstrip()
