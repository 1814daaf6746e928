"""Build wheels from a source tree that holds this file and ``be.json``.

Copied into each test source as ``be.py`` (``build-backend = "be"``, ``backend-path = ["."]``,
``requires = []``), so a build needs no network and no other package. Everything under
``src/`` goes into the wheel as it is on disk.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import io
import json
import os
import socket
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "metadata_text",
    "wheel_bytes",
]

EPOCH = (2020, 1, 1, 0, 0, 0)


def _record_row(path: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    quoted = '"' + path.replace('"', '""') + '"' if "," in path or '"' in path else path
    return f"{quoted},sha256={digest},{len(content)}"


def metadata_text(about: dict[str, Any]) -> str:
    """Return the text of METADATA (core metadata 2.1).

    :param about: name, version, requires, extras, requires_python.
    """
    lines = ["Metadata-Version: 2.1", f"Name: {about['name']}", f"Version: {about['version']}"]
    if about.get("requires_python"):
        lines.append(f"Requires-Python: {about['requires_python']}")
    lines += [f"Requires-Dist: {line}" for line in about.get("requires", ())]
    for extra, requires in about.get("extras", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        for line in requires:
            requirement, _, marker = line.partition(";")
            condition = f"({marker.strip()}) and extra == '{extra}'" if marker else f"extra == '{extra}'"
            lines.append(f"Requires-Dist: {requirement.strip()}; {condition}")
    return "\n".join(lines) + "\n"


def _wheel_text(tag: str) -> str:
    pythons, abis, platforms = (part.split(".") for part in tag.split("-"))
    tags = [f"Tag: {p}-{a}-{f}" for p in pythons for a in abis for f in platforms]
    pure = "true" if tag.endswith("-none-any") else "false"
    return "\n".join(["Wheel-Version: 1.0", "Generator: be", f"Root-Is-Purelib: {pure}", *tags]) + "\n"


def _entry_points_text(groups: dict[str, dict[str, str]]) -> str:
    sections = []
    for group, entries in groups.items():
        lines = [f"{name} = {target}" for name, target in entries.items()]
        sections.append("\n".join([f"[{group}]", *lines]))
    return "\n\n".join(sections) + "\n"


def wheel_bytes(about: dict[str, Any], files: dict[str, bytes]) -> bytes:
    """Return a wheel with a valid RECORD, the same bytes for the same input (PyPA wheel format 1.0).

    :param about: name, version, tag, requires, extras, entry_points; ``data`` maps a path
        below ``.data/`` to text; ``unrecorded`` names files without a row in RECORD;
        ``recorded_as`` maps a path to the row that stands there instead.
    :param files: path below site-packages to content.
    """
    name = about["name"].replace("-", "_").replace(".", "_")
    stem = f"{name}-{about['version']}"
    everything = dict(files)
    for path, text in about.get("data", {}).items():
        everything[f"{stem}.data/{path}"] = text.encode()
    info = f"{stem}.dist-info"
    everything[f"{info}/METADATA"] = metadata_text(about).encode()
    everything[f"{info}/WHEEL"] = _wheel_text(about.get("tag", "py3-none-any")).encode()
    if about.get("entry_points"):
        everything[f"{info}/entry_points.txt"] = _entry_points_text(about["entry_points"]).encode()
    rows = {
        path: _record_row(path, content)
        for path, content in everything.items()
        if path not in about.get("unrecorded", ())
    }
    rows |= about.get("recorded_as", {})
    record = "\n".join([*rows.values(), f"{info}/RECORD,,"]) + "\n"
    everything[f"{info}/RECORD"] = record.encode()
    return _zip(everything)


def _zip(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, EPOCH)
            mode = 0o100755 if "/scripts/" in path else 0o100644
            entry.external_attr = mode << 16
            archive.writestr(entry, content)
    return target.getvalue()


def _configuration() -> dict[str, Any]:
    about: dict[str, Any] = json.loads(Path("be.json").read_text(encoding="utf-8"))
    return about


def _stand_at_gate(port: int) -> None:
    """Tell the test's gate that a build is here, and stay until it opens or dies."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"{os.getpid()}\n".encode())
        connection.recv(1)


def _act(about: dict[str, Any]) -> dict[str, Any]:
    """Do what the source asks for at build time; return what the build saw."""
    for line in about.get("prints", ()):
        sys.stdout.write(line + "\n")
    sys.stdout.flush()
    if about.get("gate"):
        _stand_at_gate(about["gate"])
    if about.get("sleeps"):
        time.sleep(about["sleeps"])
    if about.get("fails"):
        sys.stderr.write(about["fails"] + "\n")
        raise SystemExit(1)
    seen = {name: os.environ.get(name) for name in about.get("reads", ())}
    against = {
        name: getattr(importlib.import_module(name), "__version__", None) for name in about.get("imports", ())
    }
    return {"variables": seen, "against": against}


def _source_files() -> dict[str, bytes]:
    root = Path("src")
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _save(about: dict[str, Any], files: dict[str, bytes], directory: str) -> str:
    name = about["name"].replace("-", "_").replace(".", "_")
    file = f"{name}-{about['version']}-{about.get('tag', 'py3-none-any')}.whl"
    (Path(directory) / file).write_bytes(wheel_bytes(about, files))
    return file


def build_wheel(directory: str, config_settings: Any = None, _metadata: str | None = None) -> str:
    """Build a wheel (PEP 517); ``<module>/_built.py`` says what the build saw.

    :returns: the wheel's file name.
    """
    about = _configuration()
    seen = _act(about)
    files = _source_files()
    if any(seen.values()) or config_settings:
        text = f"VARIABLES = {seen['variables']!r}\nAGAINST = {seen['against']!r}\n"
        text += f"SETTINGS = {dict(config_settings or {})!r}\n"
        files[f"{about['module']}/_built.py"] = text.encode()
    return _save(about, files, directory)


def build_editable(directory: str, _config_settings: Any = None, _metadata: str | None = None) -> str:
    """Build an editable wheel (PEP 660): one ``.pth`` that names ``src``.

    :returns: the wheel's file name.
    """
    about = _configuration()
    _act(about)
    return _save(about, {f"_{about['module']}.pth": f"{Path('src').resolve()}\n".encode()}, directory)


def build_sdist(directory: str, _config_settings: Any = None) -> str:
    """Refuse: the tests make their sdists themselves (PEP 517 asks for the hook)."""
    message = f"no sdist is made here ({directory})"
    raise NotImplementedError(message)
