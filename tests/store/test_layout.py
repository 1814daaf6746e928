"""Where stores are, what is refused, and the states of an environment."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.capabilities import as_nobody, needs_unprivileged_user
from tests.support.storing import KEY, OTHER, record_of

from greenroom.components import StoreOptions
from greenroom.errors import NoStoreWritable, StorePathRefused
from greenroom.store import layout, machine, records
from greenroom.store.layout import Store
from greenroom.store.model import State

if TYPE_CHECKING:
    from pathlib import Path


def paths(declared: tuple[str, ...] = (), **environ: str) -> tuple[str, ...]:
    return tuple(store.path for store in layout.stores(StoreOptions(paths=declared), environ))


def test_the_variable_goes_before_the_declaration_and_the_declaration_before_the_default() -> None:
    assert paths(("/declared",), GREENROOM_STORE="/one:/two", HOME="/home/u") == ("/one", "/two")
    assert paths(("/declared", "/second"), HOME="/home/u") == ("/declared", "/second")
    assert paths(HOME="/home/u") == ("/home/u/.local/share/greenroom",)
    assert paths(HOME="/home/u", XDG_DATA_HOME="/data") == ("/data/greenroom",)


def test_a_relative_data_home_is_ignored_as_its_specification_says() -> None:
    assert paths(HOME="/home/u", XDG_DATA_HOME="data") == ("/home/u/.local/share/greenroom",)


def test_paths_are_normalized_and_named_once() -> None:
    assert paths(GREENROOM_STORE="/a//b/../c/:/a/c:~/s", HOME="/home/u") == ("/a/c", "/home/u/s")
    assert paths(GREENROOM_STORE="//a/b") == ("/a/b",)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("relative/store", "not absolute"),
        ("/my store", "white space"),
        ("/a\tb", "white space"),
        ("/a\nb", "white space"),
        ("/a\xa0b", "white space"),
        ("/a\x07b", "cannot be printed"),
        ("/a\udcffb", "cannot be printed or decoded"),
        ("/a$(touch x)", "white space"),
        ("/a$(x)", "shell line"),
        ("/a'b", "shell line"),
        ("/a;b", "shell line"),
        ("/a&b", "shell line"),
        ("/", "root of the file system"),
        ("/..", "root of the file system"),
    ],
)
def test_a_path_that_a_shell_line_or_ray_would_break_is_refused_with_the_reason(
    path: str, reason: str
) -> None:
    with pytest.raises(StorePathRefused, match=reason) as caught:
        paths(GREENROOM_STORE=path)
    assert "GREENROOM_STORE" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_letters_of_any_language_are_fine() -> None:
    assert paths(GREENROOM_STORE="/größe/データ") == ("/größe/データ",)


@given(st.text(min_size=1, max_size=30))
def test_whatever_is_accepted_survives_a_shell_line(text: str) -> None:
    try:
        (found,) = paths((f"/{text}",))
    except StorePathRefused:
        return
    assert len(found.split()) == 1
    assert not set(found) & set("|&;<>()$`\\\"'*?[]{}!#~: ")


def test_without_a_home_the_error_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    def nobody(_uid: int) -> pwd.struct_passwd:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    with pytest.raises(StorePathRefused, match="GREENROOM_STORE"):
        paths()
    assert paths(GREENROOM_STORE="/somewhere") == ("/somewhere",)


def test_the_first_writable_store_builds(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    found = layout.stores(StoreOptions(paths=(f"{file}/below", f"{tmp_path}/new/store")), {})
    assert [store.writable for store in found] == [False, True]
    assert layout.building(found).path == f"{tmp_path}/new/store"
    with pytest.raises(NoStoreWritable, match="no store is writable"):
        layout.building(found[:1])
    assert not (tmp_path / "new").exists()


def test_preparing_keeps_the_store_out_of_uploads_and_backups(store_path: Path) -> None:
    store = Store(path=str(store_path), writable=True)
    before = os.umask(0o077)
    try:
        layout.prepare(store)
        layout.prepare(store)
    finally:
        os.umask(before)
    assert (store_path / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    for name in (".gitignore", ".rayignore"):
        assert "*" in (store_path / name).read_text().splitlines()
    assert stat.S_IMODE(store_path.stat().st_mode) & 0o555 == 0o555
    assert layout.keys(store) == ()


def test_looking_at_a_store_writes_nothing(store_path: Path) -> None:
    store = Store(path=str(store_path), writable=True)
    assert layout.state(store, KEY) == (State.MISSING, "not built")
    assert layout.find([store], KEY) is None
    assert layout.keys(store) == ()
    assert not store_path.exists()


@needs_unprivileged_user
def test_another_user_reads_a_store_and_does_not_build_in_it(public_path: Path) -> None:
    store = Store(path=f"{public_path}/store", writable=True)
    layout.prepare(store)
    base = public_path / "python"
    base.write_text("interpreter")
    status = base.stat()
    _record(store, KEY, base=(str(base), status.st_ino, status.st_size, status.st_mtime_ns))
    assert _seen_by_nobody(store) == ["False", "ready", "True"]
    public_path.joinpath("closed").mkdir(mode=0o700)
    base.rename(public_path / "closed" / "python")
    _record(
        store, OTHER, base=(f"{public_path}/closed/python", status.st_ino, status.st_size, status.st_mtime_ns)
    )
    assert layout.state(store, OTHER) == (State.READY, "")
    assert _seen_by_nobody(store, OTHER)[:2] == ["False", "damaged"]


def _seen_by_nobody(store: Store, key: str = KEY) -> list[str]:
    code = (
        "import sys; sys.path[:0] = sys.argv[1:];"
        "from greenroom.store import layout; from greenroom.components import StoreOptions;"
        f"s, = layout.stores(StoreOptions(paths=({store.path!r},)), {{}});"
        f"print(s.writable, layout.state(s, {key!r})[0], layout.find([s], {key!r}) is not None)"
    )
    path = [entry for entry in sys.path if entry.endswith(("/src", "site-packages"))]
    found = subprocess.run(
        [*as_nobody(), sys.executable, "-c", code, *path], capture_output=True, text=True, check=True
    )
    return found.stdout.split()


def _record(store: Store, key: str, **fields: object) -> None:
    os.makedirs(store.environment(key), exist_ok=True)
    records.write(store, replace(record_of(key), **fields))  # type: ignore[arg-type]


def test_a_base_interpreter_that_vanished_or_was_replaced_makes_it_damaged_until_it_is_back(
    store_path: Path, tmp_path: Path
) -> None:
    store = Store(path=str(store_path), writable=True)
    base = tmp_path / "py" / "bin" / "python3.11"
    base.parent.mkdir(parents=True)
    base.write_text("interpreter")
    status = base.stat()
    stood = (str(base), status.st_ino, status.st_size, status.st_mtime_ns)
    _record(store, KEY, host=machine.this_host(), base=stood)
    _record(store, OTHER, host="another node", base=stood)
    assert layout.state(store, KEY) == (State.READY, "")
    (tmp_path / "py").rename(tmp_path / "away")
    state, reason = layout.state(store, KEY)
    assert (state, reason) == (State.DAMAGED, f"the base interpreter {base} vanished")
    assert layout.find([store], KEY) is None
    (tmp_path / "away").rename(tmp_path / "py")
    assert layout.state(store, KEY) == (State.READY, "")
    base.unlink()
    base.write_text("another one")
    assert layout.state(store, KEY)[1] == f"the base interpreter {base} was replaced since the build"
    # Another node has its own, of the path and version that the key names.
    assert layout.state(store, OTHER) == (State.READY, "")
    base.unlink()
    assert layout.state(store, OTHER)[0] == State.DAMAGED


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"machine": "linux-sparc64-glibc"}, "built for linux-sparc64-glibc, this machine is"),
        ({"machine": "plan9-x86_64"}, "built for plan9-x86_64"),
        ({"libc": "99.0"}, "need glibc 99.0"),
    ],
)
def test_an_environment_of_another_machine_is_never_handed_out(
    store_path: Path, fields: dict[str, object], words: str
) -> None:
    store = Store(path=str(store_path), writable=True)
    _record(store, KEY, **fields)
    state, reason = layout.state(store, KEY)
    assert state == State.DAMAGED
    assert words in reason
    assert layout.find([store], KEY) is None


def test_a_ready_one_of_a_later_store_is_found(tmp_path: Path) -> None:
    first, second = (Store(path=f"{tmp_path}/{name}", writable=True) for name in ("first", "second"))
    _record(second, KEY)
    found = layout.find([first, second], KEY)
    assert found is not None
    assert found[0] == second


def test_keys_are_told_from_whatever_else_stands_in_a_store(store_path: Path) -> None:
    store = Store(path=str(store_path), writable=True)
    layout.prepare(store)
    for name in (KEY, OTHER, "lost+found", "cp311-short", "CP311-" + "a" * 24, "notes.txt"):
        (store_path / name).mkdir()
    assert layout.keys(store) == tuple(sorted((KEY, OTHER)))
    shutil.rmtree(store_path / KEY)


def test_names_that_differ_only_in_case_are_no_keys() -> None:
    assert layout.is_key(KEY)
    assert not layout.is_key(KEY.upper())
