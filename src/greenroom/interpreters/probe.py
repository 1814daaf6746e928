"""Say what the interpreter that runs this script is, as JSON on standard output.

Run as ``python -I -S probe.py <directory that holds packaging>``. It must say something on any
Python, however old: no annotations, no f-strings, the standard library only, and ``packaging``
where this Python is new enough for it (it tells markers and wheel tags by the standard's words).
"""

# ruff: noqa: PLC0415, UP031, UP032 - it speaks the Python of 2016, and imports what may be missing where it can fail

import importlib.util
import json
import os
import platform
import sys
import sysconfig

__all__ = ["base", "home_in", "libc", "magic", "main", "markers"]


def main() -> None:
    """Print everything that greenroom wants to know."""
    info = sys.version_info
    facts = {
        "version_info": list(info),
        "implementation": sys.implementation.name,
        "cache_tag": sys.implementation.cache_tag or "",
        "base": base(getattr(sys, "_base_executable", None) or sys.executable),
        "platform": sysconfig.get_platform(),
        "magic": magic(),
        "libc": libc(),
        "suffix": sysconfig.get_config_var("EXT_SUFFIX") or "",
        "markers": markers(),
        "tags": [],
    }
    # The standard library is searched first: what lies beside packaging cannot hide it.
    sys.path.append(sys.argv[1])
    try:
        from packaging.markers import default_environment
        from packaging.tags import sys_tags
    except (ImportError, SyntaxError):
        pass
    else:
        facts["markers"] = dict(default_environment())
        facts["tags"] = [str(tag) for tag in sys_tags()]
    sys.stdout.write(json.dumps(facts))


def base(executable: str) -> str:
    """Return the interpreter below a virtual environment (PEP 405); old Pythons do not tell it themselves."""
    for directory in (os.path.dirname(executable), os.path.dirname(os.path.dirname(executable))):
        home = home_in(os.path.join(directory, "pyvenv.cfg"))
        for name in (os.path.basename(executable), "python%d.%d" % sys.version_info[:2], "python3", "python"):
            if home and os.path.isfile(os.path.join(home, name)):
                return os.path.join(home, name)
    return executable


def home_in(file: str) -> str:
    """Return what a ``pyvenv.cfg`` says of its base's directory; empty where there is none."""
    try:
        with open(file, encoding="utf-8") as stream:
            rows = [line.partition("=") for line in stream]
    except (OSError, ValueError):
        return ""
    return "".join(value.strip() for name, _, value in rows if name.strip().lower() == "home")


def magic() -> str:
    """Return the bytecode's magic number, hexadecimal."""
    return importlib.util.MAGIC_NUMBER.hex()


def libc() -> str:
    """Return the C library's name and version, as ``glibc 2.36``; empty where it does not tell."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, OSError, ValueError):
        return ""


def markers() -> "dict[str, str]":
    """Return the marker environment as the standard defines it, for Pythons too old for packaging.

    https://packaging.python.org/en/latest/specifications/dependency-specifiers/#environment-markers
    """
    info = sys.implementation.version
    version = "{0.major}.{0.minor}.{0.micro}".format(info)
    if info.releaselevel != "final":
        version += info.releaselevel[0] + str(info.serial)
    return {
        "implementation_name": sys.implementation.name,
        "implementation_version": version,
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_full_version": platform.python_version(),
        "python_version": ".".join(platform.python_version_tuple()[:2]),
        "sys_platform": sys.platform,
    }


if __name__ == "__main__":
    main()
