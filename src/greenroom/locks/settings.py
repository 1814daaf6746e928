"""Read what a source itself says about builds: ``[tool.uv]`` of a project, or a ``uv.toml``.

Only what decides the content of an environment is taken; indexes, credentials and speed are the
operator's. Names and meanings: uv's settings reference.
"""

from __future__ import annotations

import os
from json import dumps

from greenroom.errors import LockUnreadable
from greenroom.locks import credentials
from greenroom.locks.model import BuildSettings
from greenroom.locks.uvlock import normalize, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.components import Pairs
    from greenroom.locks.uvlock import Table

__all__ = ["build_settings", "default_groups", "of_project", "section", "table"]

ALL = ":all:"
"""Stands for every package, as in pip's ``--no-binary :all:``."""

_tables: dict[str, tuple[tuple[int, int, int], Table]] = {}


def table(path: str) -> Table | None:
    """Return a TOML file's table, parsed once per content as its stat tells; None when it is absent.

    :raises LockUnreadable: it cannot be read or is no TOML.
    :raises SecretInSource: it holds a credential.
    """
    try:
        stat = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise LockUnreadable(path, error.strerror or str(error)) from error
    seen = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    known = _tables.get(path)
    if known is not None and known[0] == seen:
        return known[1]
    parsed, text = parse(path)
    credentials.refuse(text, path)
    _tables[path] = (seen, parsed)
    return parsed


def of_project(directory: str) -> tuple[BuildSettings, tuple[str, ...]]:
    """Return a project's build settings and the files that decide them.

    A ``uv.toml`` beside ``pyproject.toml`` replaces ``[tool.uv]``, as it does for uv.
    """
    pyproject, own = os.path.join(directory, "pyproject.toml"), os.path.join(directory, "uv.toml")
    found = table(own)
    if found is None:
        found = section(table(pyproject), "tool", "uv")
    return build_settings(found), (pyproject, own)


def section(found: object, *path: str) -> Table:
    """Return a table in a table, empty where there is none."""
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def default_groups(pyproject: Table | None, groups: Iterable[str]) -> tuple[str, ...]:
    """Return the groups that uv installs unasked: ``default-groups`` of ``[tool.uv]``, else ``dev``.

    :param groups: the groups that there are, for ``default-groups = "all"``.
    """
    said = section(pyproject, "tool", "uv").get("default-groups", ["dev"])
    if said == "all":
        return tuple(groups)
    return tuple(normalize(str(group)) for group in said)


def build_settings(uv: Table) -> BuildSettings:
    """Return the settings of a ``[tool.uv]`` table or a ``uv.toml``; its ``[pip]`` section wins."""
    pip = section(uv, "pip")
    merged = {**uv, **{key: value for key, value in pip.items() if key in _SHARED}}
    return BuildSettings(
        no_build_isolation=_packages(merged, "no-build-isolation", "no-build-isolation-package"),
        extra_build_requires=_extra_requires(section(merged, "extra-build-dependencies")),
        extra_build_variables=tuple(
            sorted(
                (normalize(name), _strings(variables))
                for name, variables in section(merged, "extra-build-variables").items()
            )
        ),
        config_settings=_values(section(merged, "config-settings")),
        config_settings_package=tuple(
            sorted(
                (normalize(name), _values(values))
                for name, values in section(merged, "config-settings-package").items()
            )
        ),
        build_constraints=_constraints(merged.get("build-constraint-dependencies", ())),
        no_binary=_packages(merged, "no-binary", "no-binary-package"),
        no_build=_packages(merged, "no-build", "no-build-package"),
    )


_SHARED = frozenset(
    {
        "no-build-isolation",
        "no-build-isolation-package",
        "extra-build-dependencies",
        "extra-build-variables",
        "config-settings",
        "config-settings-package",
        "no-binary",
        "no-build",
    }
)


def _packages(uv: Table, switch: str, listed: str) -> tuple[str, ...]:
    said = uv.get(switch)
    names = [str(name) for name in uv.get(listed, ())]
    names.extend(str(name) for name in said) if isinstance(said, list) else None
    if said is True:
        names.append(ALL)
    return tuple(sorted({name if name == ALL else normalize(name) for name in names}))


def _extra_requires(found: Table) -> tuple[tuple[str, tuple[tuple[str, bool], ...]], ...]:
    result = []
    for name, requirements in found.items():
        lines = [
            (str(line["requirement"]), bool(line.get("match-runtime")))
            if isinstance(line, dict)
            else (str(line), False)
            for line in requirements
        ]
        result.append((normalize(name), tuple(sorted(lines))))
    return tuple(sorted(result))


def _strings(found: object) -> Pairs:
    values = found if isinstance(found, dict) else {}
    return tuple(sorted((str(name), str(value)) for name, value in values.items()))


def _values(found: object) -> Pairs:
    values = found if isinstance(found, dict) else {}
    return tuple(sorted((str(name), dumps(value, sort_keys=True)) for name, value in values.items()))


def _constraints(lines: Iterable[object]) -> tuple[str, ...]:
    texts = (line["requirement"] if isinstance(line, dict) else line for line in lines)
    return tuple(sorted(" ".join(str(text).split()) for text in texts))
