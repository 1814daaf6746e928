"""Interpreters made by hand: targets that this machine need not have."""

from __future__ import annotations

from packaging.tags import compatible_tags, cpython_tags

from greenroom.interpreters.model import Interpreter

__all__ = ["linux", "macos"]


def linux(version: str = "3.13.14", *, machine: str = "x86_64", glibc: int = 36) -> Interpreter:
    """Return a CPython on Linux.

    :param glibc: the minor version of its C library, 2.``glibc``.
    """
    legacy = (
        {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
        if machine == "x86_64"
        else {17: "manylinux2014"}
    )
    platforms = []
    for minor in range(glibc, 4, -1):
        platforms.append(f"manylinux_2_{minor}_{machine}")
        if minor in legacy:
            platforms.append(f"{legacy[minor]}_{machine}")
    platforms.append(f"linux_{machine}")
    return _interpreter(version, "linux", "Linux", machine, platforms)


def macos(version: str = "3.13.14") -> Interpreter:
    """Return a CPython on macOS 14, arm64."""
    platforms = [f"macosx_{major}_0_arm64" for major in range(14, 10, -1)]
    return _interpreter(version, "darwin", "Darwin", "arm64", platforms)


def _interpreter(version: str, system: str, name: str, machine: str, platforms: list[str]) -> Interpreter:
    major, minor = (int(part) for part in version.split(".")[:2])
    abi = f"cp{major}{minor}"
    markers = {
        "implementation_name": "cpython",
        "implementation_version": version,
        "os_name": "posix",
        "platform_machine": machine,
        "platform_python_implementation": "CPython",
        "platform_release": "6.1.0",
        "platform_system": name,
        "platform_version": "#1",
        "python_full_version": version,
        "python_version": f"{major}.{minor}",
        "sys_platform": system,
    }
    tags = [
        *cpython_tags((major, minor), [abi], platforms),
        *compatible_tags((major, minor), abi, platforms),
    ]
    return Interpreter(
        path=f"/opt/python/{version}/bin/python{major}.{minor}",
        implementation="cpython",
        version=version,
        cache_tag=f"cpython-{major}{minor}",
        abi=abi,
        magic="a70d0d0a",
        platform=f"{system}-{machine}",
        markers=tuple(sorted(markers.items())),
        tags=tuple(str(tag) for tag in tags),
        stat=(1, 2, 3),
    )
