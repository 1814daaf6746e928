"""A source's build settings in uv's words: https://docs.astral.sh/uv/reference/settings/."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.locks.model import BuildSettings

__all__ = ["keys"]


def keys(settings: BuildSettings) -> Iterator[tuple[str, object]]:
    """Yield a source's build settings as uv's keys."""
    if settings.no_build_isolation:
        yield "no-build-isolation-package", settings.no_build_isolation
    if settings.extra_build_requires:
        yield (
            "extra-build-dependencies",
            {
                package: [
                    {"requirement": requirement, "match-runtime": True} if matched else requirement
                    for requirement, matched in requirements
                ]
                for package, requirements in settings.extra_build_requires
            },
        )
    if settings.extra_build_variables:
        yield (
            "extra-build-variables",
            {package: dict(pairs) for package, pairs in settings.extra_build_variables},
        )
    if settings.config_settings:
        yield "config-settings", {name: _from_json(value) for name, value in settings.config_settings}
    if settings.config_settings_package:
        yield (
            "config-settings-package",
            {
                package: {name: _from_json(value) for name, value in pairs}
                for package, pairs in settings.config_settings_package
            },
        )
    if settings.build_constraints:
        yield "build-constraint-dependencies", settings.build_constraints
    yield from _kinds("no-binary", settings.no_binary)
    yield from _kinds("no-build", settings.no_build)


def _kinds(name: str, packages: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    if ":all:" in packages:
        yield name, True
    elif packages:
        yield f"{name}-package", packages


def _from_json(value: str) -> object:
    """Return a build setting's value: JSON of a string or list, else the text itself."""
    try:
        parsed = json.loads(value)
    except ValueError:
        return value
    return parsed if isinstance(parsed, str | list) else value
