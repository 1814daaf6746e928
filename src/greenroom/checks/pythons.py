"""Check that actors get the driver's Python and the driver's Ray."""

from __future__ import annotations

import os
import sys

from greenroom.checks.model import Finding, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.checks.facts import Facts, Wanted

__all__ = ["check", "installed_version", "looked"]

_DRIVER = "start the driver with it and name it in GREENROOM_DRIVER or as `driver`, or change the request"


def check(facts: Facts) -> Iterator[Finding]:
    """Yield where an actor's Python, or the Ray that its lock pins, is not the driver's."""
    if facts.driver is None:
        return
    ray = installed_version("ray", _driver_executable(facts))
    for wanted in facts.wanted:
        actors = tuple(component.name for component in wanted.components if component.kind == "actor")
        if actors and not wanted.assumed:
            yield from _python(facts, wanted, actors)
        if actors and ray is not None:
            yield from _ray(wanted, ray, actors)


def _python(facts: Facts, wanted: Wanted, actors: tuple[str, ...]) -> Iterator[Finding]:
    driver, own = facts.driver, wanted.interpreter
    if driver is None or own is None or own.version == driver.version:
        return
    minor = own.version.split(".")[:2] != driver.version.split(".")[:2]
    reason = (
        "a worker of another minor version crashes" if minor else "Ray takes workers of its own patch only"
    )
    origin = wanted.spec.options.python_origin
    yield Finding(
        check="python",
        severity=Severity.ERROR,
        what=f"actors get Python {own.version} for {wanted.request!r}, the driver is {driver.version}"
        f" ({driver.path}): {reason}",
        where=str(origin) if origin else None,
        todo=_DRIVER,
        components=actors,
    )


def _ray(wanted: Wanted, ray: str, actors: tuple[str, ...]) -> Iterator[Finding]:
    selection = wanted.selection
    distributions = selection.distributions if selection else ()
    locked = next((one for one in distributions if one.name == "ray"), None)
    if locked is None or locked.version is None or locked.version == ray:
        return
    yield Finding(
        check="ray",
        severity=Severity.ERROR,
        what=f"the lock pins ray {locked.version}, the driver has ray {ray}: they refuse each other",
        where=selection.files[0] if selection and selection.files else None,
        todo=f"lock ray=={ray}, or install ray=={locked.version} beside the driver",
        components=actors,
    )


def _driver_executable(facts: Facts) -> str:
    """Return the driver as it is named: its environment's packages count, not its base's."""
    named = facts.environ.get("GREENROOM_DRIVER") or facts.declaration.driver or sys.executable
    return os.path.abspath(os.path.expanduser(named))


def looked(facts: Facts) -> Iterator[str]:
    """Yield the folders that the driver's Ray was looked for in."""
    yield from _site_packages(_prefix(_driver_executable(facts)))


def installed_version(name: str, executable: str) -> str | None:
    """Return the version of a distribution beside an interpreter, told from its folders alone.

    :param executable: an interpreter, or the directory of an environment.
    """
    from importlib.metadata import distributions  # noqa: PLC0415 - not needed where there are no actors

    for found in distributions(name=name, path=list(_site_packages(_prefix(executable)))):
        return found.version
    return None


def _prefix(executable: str) -> str:
    return executable if os.path.isdir(executable) else os.path.dirname(os.path.dirname(executable))


def _site_packages(prefix: str) -> Iterator[str]:
    for library in ("lib", "lib64"):
        directory = os.path.join(prefix, library)
        try:
            names = sorted(os.listdir(directory))
        except OSError:
            continue
        for name in names:
            if name.startswith("python3"):
                yield os.path.join(directory, name, "site-packages")
                yield os.path.join(directory, name, "dist-packages")
