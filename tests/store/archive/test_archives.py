"""What was packed stands elsewhere as it was proven; anything else is refused and leaves nothing."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.support import archives

from greenroom.errors import ArchiveForeign, ArchiveRefused, PackRefused, StoreFailed
from greenroom.recipes import keys
from greenroom.store import finishing, layout, moving, records, rows
from greenroom.store.archive import blocks, manifest, packing, unpacking
from greenroom.store.archive.manifest import Member
from greenroom.store.layout import Store
from greenroom.store.model import State
from greenroom.store.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.environments import Workshop

    from greenroom.store.model import Record

LONG = "d" * 90 + "/" + "e" * 120 + ".txt"


@dataclass
class Bench:
    """An environment with its archive, and an empty store to unpack it into."""

    workshop: Workshop
    key: str
    archive: bytes = field(repr=False)
    store: Store

    def unpack(self, archive: bytes | None = None, *, size: int = 1 << 16, **more: Any) -> unpacking.Unpacked:
        return unpacking.unpack(
            self.store,
            archives.pieces(self.archive if archive is None else archive, size),
            source="test.tar.zst",
            group=self.workshop.group,
            environ=dict(os.environ),
            **more,
        )

    def refused(self, archive: bytes, match: str, error: type[Exception] = ArchiveRefused) -> None:
        with pytest.raises(error, match=match):
            self.unpack(archive)
        assert self.left() == []

    def left(self) -> list[str]:
        """Everything in the store but its own folders and locks."""
        found = list(layout.keys(self.store))
        for folder in (self.store.building, self.store.trash, self.store.bytecode):
            found += [f"{folder}/{name}" for name in os.listdir(folder)] if os.path.isdir(folder) else []
        return found

    def changed(self, **values: Any) -> bytes:
        """Return the archive of a manifest with other values; the files are the same."""
        found, files = archives.contents(self.archive)
        return archives.craft(msgspec.structs.replace(found, **values), files)


def packed(workshop: Workshop, key: str) -> bytes:
    found: list[bytes] = []
    packing.pack(workshop.store, key, found.append)
    return b"".join(found)


@pytest.fixture
def bench(workshop: Workshop, tmp_path: Path) -> Bench:
    files = {
        "alpha/code.py": "X = 1\n",
        f"alpha/{LONG}": "x" * 90,
        "alpha/empty": "",
        "alpha/ünï.txt": "ö",
        "alpha/large.bin": "0123456789abcdef" * 200_000,
    }
    made = workshop.wheel("alpha", scripts={"alpha": "alpha:main"}, files=files)
    done = workshop.environment(made, bytecode=True, link_mode="copy")
    key = done.record.key
    store = Store(path=str(tmp_path / "other"), writable=True)
    return Bench(workshop, key, packed(workshop, key), store)


def test_an_unpacked_environment_is_as_it_was_proven(bench: Bench) -> None:
    got = bench.unpack()
    assert not got.found
    assert layout.state(bench.store, bench.key) == (State.READY, "")
    assert verify(bench.store, bench.key, group=bench.workshop.group, deep=True) == ()
    one, other = bench.workshop.store.environment(bench.key), bench.store.environment(bench.key)
    assert tree(one) == tree(other)
    assert os.listdir(bench.store.building) == []


def tree(root: str) -> dict[str, tuple[str, bool]]:
    found = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            if name == "greenroom.json":
                continue
            if path.is_symlink():
                said = f"-> {path.readlink()}"
            else:
                said = rows.file_digest(str(path)) if path.is_file() else "folder"
            found[str(path.relative_to(root))] = (said, path.is_dir() or bool(path.lstat().st_mode & 0o111))
    return found


def test_what_is_ready_already_is_left_alone(bench: Bench) -> None:
    first = bench.unpack()
    before = os.stat(bench.store.record(bench.key))
    again = bench.unpack()
    assert (first.found, again.found) == (False, True)
    assert os.stat(bench.store.record(bench.key)) == before


def test_a_damaged_environment_is_replaced(bench: Bench) -> None:
    bench.unpack()
    finishing.restore(bench.store.environment(bench.key))
    Path(bench.store.record(bench.key)).write_text("{", encoding="utf-8")
    assert not bench.unpack().found
    assert layout.state(bench.store, bench.key)[0] == State.READY


def test_a_record_of_here_is_written(bench: Bench) -> None:
    bench.unpack()
    theirs = records.read(bench.workshop.store, bench.key)
    ours = records.read(bench.store, bench.key)
    assert ours is not None
    assert theirs is not None
    assert (ours.recipe, ours.installed) == (theirs.recipe, theirs.installed)
    assert "unpacked from test.tar.zst" in Path(bench.store.logs, ours.log).read_text(encoding="utf-8")


def test_bytecode_comes_along_and_is_shared_with_what_is_built_next(bench: Bench) -> None:
    bench.unpack()
    site = f"{bench.store.environment(bench.key)}/{rows.site_packages(bench.store.environment(bench.key))}"
    compiled = [f"{site}/alpha/__pycache__/{name}" for name in os.listdir(f"{site}/alpha/__pycache__")]
    assert compiled
    assert all(os.stat(path).st_nlink == 2 for path in compiled)


def test_any_tar_can_list_an_archive(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "a.tar.zst"
    file.write_bytes(bench.archive)
    if shutil.which("zstd") is None:
        pytest.skip("needs zstd")
    done = subprocess.run(["tar", "--zstd", "-tf", file], capture_output=True, text=True, check=True)
    names = done.stdout.splitlines()
    assert names[0] == manifest.NAME
    assert any(name.endswith(LONG) for name in names)
    assert not any("bin/python" in name for name in names)


def test_hard_links_stay_hard_links(workshop: Workshop, tmp_path: Path) -> None:
    made = workshop.wheel("alpha", files={"alpha/a.txt": "same\n" * 99, "alpha/b.txt": "same\n" * 99})
    done = workshop.environment(made, link_mode="copy")
    root = done.path
    site = f"{root}/{rows.site_packages(root)}/alpha"
    finishing.restore(root)
    os.unlink(f"{site}/b.txt")
    os.link(f"{site}/a.txt", f"{site}/b.txt")
    store = Store(path=str(tmp_path / "other"), writable=True)
    bench = Bench(workshop, done.record.key, packed(workshop, done.record.key), store)
    got = bench.unpack()
    there = f"{got.path}/{rows.site_packages(got.path)}/alpha"
    assert os.path.samefile(f"{there}/a.txt", f"{there}/b.txt")


@given(st.integers(min_value=0, max_value=10**9), st.integers(min_value=0, max_value=7))
@example(0, 0)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_one_flipped_bit_leaves_nothing_or_changes_nothing(bench: Bench, position: int, bit: int) -> None:
    archive = bytearray(bench.archive)
    archive[position % len(archive)] ^= 1 << bit
    try:
        got = bench.unpack(bytes(archive))
    except (ArchiveRefused, ArchiveForeign):
        assert bench.left() == []
    else:  # zstd's frame has bits that change nothing: then all is as it was proven
        assert archives.tar_of(bytes(archive)) == archives.tar_of(bench.archive)
        moving.discard(bench.store, got.path)
        shutil.rmtree(bench.store.bytecode)


@given(st.integers(min_value=0, max_value=10**9))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_cut_off_archive_leaves_nothing(bench: Bench, length: int) -> None:
    bench.refused(bench.archive[: length % len(bench.archive)], "cut off|damaged|does not begin")


def test_pieces_may_have_any_size(bench: Bench) -> None:
    assert bench.unpack(size=997).key == bench.key


def _members(bench: Bench, path: str) -> tuple[Member, ...]:
    """Return the members with another path for the first one."""
    found, _ = archives.contents(bench.archive)
    return (msgspec.structs.replace(found.members[0], path=path), *found.members[1:])


@pytest.mark.parametrize(
    "path",
    ["../x", "/tmp/x", "bin/../../x", "lib/../x", "./x", "bin//x", "nowhere/x", "bin/", "..", "", "bin/x\0y"],
)
def test_a_file_outside_of_its_folders_is_refused(bench: Bench, path: str, tmp_path: Path) -> None:
    found, files = archives.contents(bench.archive)
    hostile = msgspec.structs.replace(found, members=_members(bench, path))
    files[path] = files[found.members[0].path]
    bench.refused(archives.craft(hostile, files), "it names the file")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("path", ["../out", "/tmp/out", "a/b", "bin", "..", "."])
def test_a_folder_outside_or_twice_is_refused(bench: Bench, path: str) -> None:
    found, _ = archives.contents(bench.archive)
    bench.refused(bench.changed(folders=(*found.folders, path)), "it names the folder")


@pytest.mark.parametrize(
    "target",
    ["/etc/passwd", "../../x", "../bin/../../x", "a/../../../x", "", ".", "../../../etc", "a//b"],
)
def test_a_link_out_of_the_environment_is_refused(bench: Bench, target: str) -> None:
    bench.refused(bench.changed(links=(("bin/evil", target),)), "leads out")


def test_a_link_through_another_link_is_refused(bench: Bench) -> None:
    links = (("bin/deep", "../lib"), ("bin/evil", "deep/x"))
    bench.refused(bench.changed(links=links), "through another link")


def test_a_file_below_a_link_is_refused(bench: Bench) -> None:
    found, _ = archives.contents(bench.archive)
    links = (*found.links, ("aa", "lib"))
    members = _members(bench, "aa/x")
    bench.refused(bench.changed(links=links), "no package brought it|aa")
    found, files = archives.contents(bench.archive)
    files["aa/x"] = files[found.members[0].path]
    bench.refused(
        archives.craft(msgspec.structs.replace(found, links=links, members=members), files), "names the file"
    )


def test_a_file_that_is_named_twice_is_refused(bench: Bench) -> None:
    found, _ = archives.contents(bench.archive)
    bench.refused(bench.changed(members=(*found.members, found.members[0])), "it names the file")


@pytest.mark.parametrize("name", ["greenroom.json", "greenroom.partial.json"])
def test_an_archive_brings_no_record_of_its_own(bench: Bench, name: str) -> None:
    found, files = archives.contents(bench.archive)
    files[name] = b"{}"
    member = Member(path=name, size=2, sha256="0" * 64)
    hostile = msgspec.structs.replace(found, members=(*found.members, member))
    bench.refused(archives.craft(hostile, files), "it names the file")


def test_a_hard_link_to_what_did_not_come_before_is_refused(bench: Bench) -> None:
    found, _ = archives.contents(bench.archive)
    for target in ("/etc/passwd", "../x", "later"):
        member = Member(path="bin/evil", size=0, sha256="", same=target)
        bench.refused(bench.changed(members=(*found.members, member)), "makes no sense")


def test_a_foreign_file_is_refused(bench: Bench) -> None:
    found, files = archives.contents(bench.archive)
    site = next(path for path in found.folders if path.endswith("site-packages"))
    files[f"{site}/evil.pth"] = b"import os\n"
    digest = hashlib.sha256(b"import os\n").hexdigest()
    member = Member(path=f"{site}/evil.pth", size=10, sha256=digest)
    hostile = msgspec.structs.replace(found, members=(*found.members, member))
    bench.refused(archives.craft(hostile, files), "evil.pth: no package brought it")


def test_a_bomb_is_refused_before_it_fills_the_disk(bench: Bench) -> None:
    found, files = archives.contents(bench.archive)
    first = found.members[0]
    # More than is said: the stream is not read beyond what the manifest says.
    files[first.path] += bytes(50_000_000)
    bench.refused(archives.craft(found, files), "longer|where its manifest says")
    # As much as is said, and more than the disk has.
    huge = msgspec.structs.replace(first, size=1 << 60)
    bench.refused(bench.changed(members=(huge, *found.members[1:])), "are to be unpacked", error=StoreFailed)


def test_a_huge_manifest_is_refused_before_it_is_read(bench: Bench) -> None:
    head = blocks.header(manifest.NAME, size=manifest.LARGEST + 1)
    bench.refused(archives.compressed(head + bytes(1 << 20)), "does not begin")


def test_what_follows_behind_the_end_is_refused(bench: Bench) -> None:
    bench.refused(bench.archive + b"x", "behind its end")
    bench.refused(archives.compressed(archives.tar_of(bench.archive) + bytes(512)), "behind")


def test_special_files_have_no_place_in_an_archive(bench: Bench) -> None:
    tar = archives.tar_of(bench.archive)
    found, _ = archives.contents(bench.archive)
    first = found.members[0]
    head = blocks.header(first.path, size=first.size, executable=first.executable)
    start = tar.index(head)
    for kind in (b"2", b"3", b"4", b"6"):  # symbolic link, devices, pipe
        changed = head[:156] + kind + head[157:]
        bench.refused(
            archives.compressed(tar[:start] + changed + tar[start + len(head) :]), "does not stand where"
        )


def _with_record(bench: Bench, change: Callable[[Record], Record]) -> bytes:
    found, files = archives.contents(bench.archive)
    record = change(records.decode(bytes(found.record), ""))
    raw = msgspec.Raw(records.encode(record).strip())
    return archives.craft(msgspec.structs.replace(found, record=raw, key=record.key), files)


def test_another_recipe_than_its_key_is_refused(bench: Bench) -> None:
    def change(record: Record) -> Record:
        return replace(record, recipe=replace(record.recipe, bytecode=False))

    bench.refused(_with_record(bench, change), "its recipe does not give")


def _at(record: Record, **values: str) -> Record:
    recipe = replace(record.recipe, python=replace(record.recipe.python, **values))
    return replace(record, recipe=recipe, key=keys.key(recipe))


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"path": "/nowhere/bin/python3.11"}, "needs cpython"),
        ({"version": "3.11.99"}, r"needs cpython 3\.11\.99"),
    ],
)
def test_an_archive_for_another_interpreter_is_refused(
    bench: Bench, values: dict[str, str], says: str
) -> None:
    archive = _with_record(bench, lambda record: _at(record, **values))
    bench.refused(archive, says, error=ArchiveForeign)


def test_an_archive_of_another_machine_is_refused(bench: Bench) -> None:
    archive = _with_record(bench, lambda record: replace(record, machine="linux-riscv64-glibc"))
    bench.refused(archive, "built for linux-riscv64-glibc", error=ArchiveForeign)


def test_another_archive_than_was_asked_for_is_refused(bench: Bench) -> None:
    with pytest.raises(ArchiveRefused, match="not cp311-a"):
        bench.unpack(expected="cp311-" + "a" * 24)
    assert bench.left() == []


def test_local_sources_have_to_be_where_they_were(workshop: Workshop, tmp_path: Path) -> None:
    made = workshop.editable("local")
    done = workshop.environment(made)
    store = Store(path=str(tmp_path / "other"), writable=True)
    bench = Bench(workshop, done.record.key, packed(workshop, done.record.key), store)
    assert packing.pack(workshop.store, done.record.key, lambda _: None).sources == (made.path,)
    os.rename(made.path, f"{made.path}-moved")
    bench.refused(bench.archive, "local source local has to be at", error=ArchiveForeign)
    os.rename(f"{made.path}-moved", made.path)
    assert not bench.unpack().found


def test_what_is_not_ready_is_not_packed(workshop: Workshop) -> None:
    with pytest.raises(PackRefused, match="not built"):
        packing.pack(workshop.store, "cp311-" + "a" * 24, lambda _: None)


def test_a_link_out_of_an_environment_is_not_packed(bench: Bench) -> None:
    root = bench.workshop.store.environment(bench.key)
    finishing.restore(root)
    os.symlink("/etc/passwd", f"{root}/bin/evil")
    with pytest.raises(PackRefused, match="leads out"):
        packed(bench.workshop, bench.key)


def test_a_file_that_changes_while_it_is_packed_is_not_packed(bench: Bench) -> None:
    root = bench.workshop.store.environment(bench.key)
    site = rows.site_packages(root)
    finishing.restore(root)
    seen: list[bytes] = []

    def change(piece: bytes) -> None:
        if not seen:
            Path(f"{root}/{site}/alpha/ünï.txt").write_text("ä", encoding="utf-8")
        seen.append(piece)

    data = Path(f"{root}/{site}/alpha/large.bin")
    data.write_bytes(os.urandom(24_000_000))  # so that something is written before everything is read
    with pytest.raises(PackRefused, match="changed while"):
        packing.pack(bench.workshop.store, bench.key, change)


def test_a_manifest_of_a_newer_greenroom_says_so(bench: Bench) -> None:
    bench.refused(bench.changed(schema=manifest.SCHEMA + 1), "has schema")


def test_a_partial_environment_is_not_packed(workshop: Workshop) -> None:
    made = workshop.wheel("alpha")
    done = workshop.environment(made, late=["late"])
    with pytest.raises(PackRefused, match="still to come"):
        packed(workshop, done.record.key)


def test_an_unpacked_environment_can_be_removed_and_unpacked_again(bench: Bench) -> None:
    got = bench.unpack()
    moving.discard(bench.store, got.path)
    assert not bench.unpack().found
