"""Build images with buildah from a base that is made of this machine, and run them closed off from it."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import greenroom
from tests.support import pythons
from tests.support.workspace import script

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["BASE", "Buildah", "Layer"]

BASE = "localhost/greenroom-tests-base"
PYTHON = "/opt/python"
"""Where the base has its interpreter, with greenroom and uv beside it."""
LEFT_OUT = re.compile(
    r"/(test|tests|idlelib|tkinter|turtledemo|ensurepip|lib2to3|pydoc_data|site-packages|__pycache__|config-.*)$"
)
DEADLINE = 300.0


class Layer:
    """What one layer of an image adds: names and bytes of its regular files, a linked one once."""

    def __init__(self, path: Path) -> None:
        self.names: list[str] = []
        self.folders: list[str] = []
        self.size = 0
        with tarfile.open(path) as archive:
            for entry in archive:
                if entry.isdir():
                    self.folders.append(entry.name)
                    continue
                self.names.append(entry.name)
                self.size += entry.size if entry.isreg() else 0


class Buildah:
    """One storage of images in a folder of the test's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._command = ["buildah", "--storage-driver", "vfs"]
        self._command += ["--root", str(folder / "storage"), "--runroot", str(folder / "run")]
        trust = folder / "policy.json"
        trust.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
        self._trust = ("--signature-policy", str(trust))

    def run(self, *arguments: str) -> str:
        """Run buildah; its output when it succeeds."""
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "BUILDAH_ISOLATION": "chroot",
        }
        done = subprocess.run(
            [*self._command, *arguments],
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
            env=environ,
        )
        assert done.returncode == 0, f"buildah {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def make_base(self) -> None:
        """Make the base image: an interpreter, greenroom with what it needs, uv, a shell."""
        rootfs = self.folder / "rootfs"
        _fill(rootfs)
        text = f"FROM scratch\nCOPY rootfs /\nENV PATH={PYTHON}/bin:/bin PYTHONDONTWRITEBYTECODE=\n"
        (self.folder / "Dockerfile").write_text(text)
        self.run("build", *self._trust, "-t", BASE, str(self.folder))
        shutil.rmtree(rootfs)

    def build(
        self, context: Path, tag: str, *, contexts: Mapping[str, Path] | None = None, cached: bool = True
    ) -> None:
        """Build the Dockerfile of a context with one layer for each instruction.

        :param cached: take layers that were built before.
        """
        more = [f"--build-context={name}={path}" for name, path in (contexts or {}).items()]
        more += [] if cached else ["--no-cache"]
        self.run("build", *self._trust, "--layers", *more, "-t", tag, str(context))

    def layers(self, tag: str) -> list[Layer]:
        """Return the layers of an image, the lowest first."""
        target = self.folder / f"export-{tag}"
        self.run("push", *self._trust, "--disable-compression", tag, f"dir:{target}")
        manifest = json.loads((target / "manifest.json").read_text())
        found = [Layer(target / layer["digest"].partition(":")[2]) for layer in manifest["layers"]]
        shutil.rmtree(target)
        return found

    def closed(
        self,
        tag: str,
        *arguments: str,
        writable: Iterable[str] = (),
        env: Mapping[str, str] | None = None,
        network: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in an image: read-only root, a uid that nobody has, no home, no network.

        :param writable: folders, made when missing, that are empty and writable for that user.
        :param network: let it reach this machine.
        """
        container = self.run("from", *self._trust, "--pull-never", tag).strip()
        root = Path(self.run("mount", container).strip())
        config = json.loads(self.run("inspect", container))["OCIv1"]["config"]
        for folder in ("dev", "proc", *(place.lstrip("/") for place in writable)):
            (root / folder).mkdir(parents=True, exist_ok=True)
        lines = [
            "set -e",
            'mount --bind "$0" "$0"',
            'mount --rbind /dev "$0/dev"',
            'mount -t proc proc "$0/proc"',
        ]
        lines += [f'mount -t tmpfs -o mode=777 none "$0{place}"' for place in writable]
        lines += ['mount -o remount,bind,ro "$0"', "shift", 'exec chroot --userspec=54321:54321 "$0" "$@"']
        own = dict(entry.split("=", 1) for entry in config["Env"]) | dict(env or {})
        inside = f'cd {config["WorkingDir"]} && exec "$@"'
        alone = ["unshare", "--mount", "--pid", "--fork", *([] if network else ["--net"])]
        command = [*alone, "sh", "-c", "\n".join(lines), str(root), "-", "/bin/sh", "-c", inside, "-"]
        own["PATH"] += ":/usr/sbin:/usr/bin"  # for chroot itself
        try:
            return subprocess.run(
                [*command, *arguments], capture_output=True, text=True, timeout=DEADLINE, check=False, env=own
            )
        finally:
            self.run("rm", container)


def _fill(rootfs: Path) -> None:
    """Write the base's files: only what is used, because vfs copies them for each layer."""
    prefix = Path(pythons.base().path).resolve().parents[1]
    version = "python{}.{}".format(*pythons.base().version.split(".")[:2])
    target = rootfs / PYTHON.lstrip("/")
    shutil.copytree(
        prefix / "lib" / version,
        target / "lib" / version,
        ignore=lambda folder, names: [
            n for n in names if LEFT_OUT.search(f"{folder}/{n}") or n.endswith(".a")
        ],
    )
    (target / "bin").mkdir()
    shutil.copy2(prefix / "bin" / version, target / "bin")
    for name in ("python", "python3"):
        (target / "bin" / name).symlink_to(version)
    for library in (prefix / "lib").glob("libpython*.so*"):
        # Below the loader's own paths: the interpreter looks where it was built to stand.
        (rootfs / "lib").mkdir(exist_ok=True)
        shutil.copy2(library, rootfs / "lib", follow_symlinks=True)
    shutil.copy2(script("uv"), target / "bin")
    _packages(target / "lib" / version / "site-packages")
    (target / "bin/greenroom").write_text(
        f"#!{PYTHON}/bin/python\nimport sys\nfrom greenroom.cli import entry\nsys.exit(entry())\n"
    )
    (target / "bin/greenroom").chmod(0o755)
    (rootfs / "bin").mkdir()
    shutil.copy2("/bin/sh", rootfs / "bin/sh", follow_symlinks=True)
    for folder in ("tmp", "root", "etc", "dev", "proc"):
        (rootfs / folder).mkdir()
    (rootfs / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    programs = [target / "bin" / version, target / "bin/uv", rootfs / "bin/sh", *target.rglob("*.so")]
    for needed in _libraries(programs, prefix / "lib"):
        place = rootfs / needed.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(needed, place, follow_symlinks=True)


def _packages(target: Path) -> None:
    """Copy greenroom and what it needs, as metadata says."""
    target.mkdir()
    waiting, seen = ["greenroom"], set()
    while waiting:
        name = waiting.pop()
        if name in seen or name == "uv":
            continue
        seen.add(name)
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        lines = [line for line in found.requires or () if "extra ==" not in line]
        waiting += [re.split(r"[^A-Za-z0-9._-]", line)[0] for line in lines]
        if name == "greenroom":
            shutil.copytree(Path(greenroom.__file__).parent, target / "greenroom", ignore=_no_bytecode)
            continue
        for entry in found.files or ():
            source = Path(str(found.locate_file(entry)))
            if ".." in entry.parts or "__pycache__" in entry.parts or not source.is_file():
                continue
            (target / entry).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / entry)


def _no_bytecode(folder: str, names: list[str]) -> list[str]:
    del folder
    return [name for name in names if name == "__pycache__"]


def _libraries(programs: Iterable[Path], own: Path) -> set[str]:
    found: set[str] = set()
    environ = {"LD_LIBRARY_PATH": str(own), "PATH": os.environ["PATH"]}
    for program in programs:
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False, env=environ)
        paths = re.findall(r"(?:=> |^\s+)(/\S+) \(", listed.stdout, flags=re.MULTILINE)
        found.update(path for path in paths if not path.startswith(str(own)))
    return found
