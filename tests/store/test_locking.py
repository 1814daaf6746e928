"""Locks: one holder, seen by whoever waits, ended by the holder's death, refused where they do not work."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.capabilities import needs_command, needs_linux

from greenroom.errors import (
    EnvironmentGone,
    InterruptedRunError,
    LockBusy,
    LocksUnsupported,
    StoreFailed,
)
from greenroom.store import leasing, locking, mounts, usage
from greenroom.store.mounts import Mount

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from greenroom.store.locking import Holder

HOLDER = """
import sys
from greenroom.store import locking
with locking.hold(sys.argv[1], "the other build") as lock:
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    folder = tmp_path / "locks"
    folder.mkdir()
    return f"{folder}/key.lock"


@pytest.fixture
def holder(path: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_the_lock_excludes_threads_and_is_free_afterwards(path: str) -> None:
    with locking.hold(path, "one"):
        with (
            pytest.raises(LockBusy, match=rf"process {os.getpid()} on .* \(one\)"),
            locking.hold(path, wait=False),
        ):
            pass
        assert locking.held(path) is not None
    assert locking.held(path) is None
    with locking.hold(path, wait=False):
        pass


def test_whoever_waits_is_told_for_whom_and_goes_on_when_the_holder_is_killed(
    path: str, holder: subprocess.Popen[str]
) -> None:
    told: list[Holder] = []

    def waiting(found: Holder) -> None:
        told.append(found)
        holder.send_signal(signal.SIGKILL)

    with locking.hold(path, "mine", on_wait=waiting):
        assert [(found.pid, found.what) for found in told] == [(holder.pid, "the other build")]
        assert str(holder.pid) in str(told[0])


def test_a_child_that_inherited_the_descriptor_holds_on_after_its_parent_died(path: str) -> None:
    code = """
import subprocess, sys
from greenroom.store import locking
with locking.hold(sys.argv[1], "build") as lock:
    child = subprocess.Popen(["sh", "-c", "echo $$; exec cat"], pass_fds=[lock.fd])
    child.wait()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
        os.waitpid(parent.pid, 0)
        parent.returncode = -9
        assert locking.held(path) is not None
        assert parent.stdin is not None
        parent.stdin.close()
        parent.stdin = None
        with locking.hold(path):  # the child's end frees it
            pass
        os.waitpid(child, 0)


def test_the_wait_of_a_cancelled_run_ends_without_the_lock(path: str) -> None:
    cancelled = threading.Event()
    errors: list[BaseException] = []
    waiting = threading.Event()

    def wait() -> None:
        try:
            with locking.hold(path, cancelled=cancelled, on_wait=lambda _: waiting.set()):
                errors.append(AssertionError())
        except InterruptedRunError as error:
            errors.append(error)

    thread = threading.Thread(target=wait, daemon=True)
    with locking.hold(path):
        thread.start()
        assert waiting.wait(30)
        cancelled.set()
    thread.join(30)
    assert [type(error) for error in errors] == [InterruptedRunError]
    assert locking.held(path) is None


@needs_linux
def test_ctrl_c_ends_a_wait_on_the_main_thread(path: str) -> None:
    code = HOLDER.replace('"the other build"', '"w", on_wait=lambda h: print("waits", flush=True)')
    with (
        locking.hold(path),
        subprocess.Popen(
            [sys.executable, "-c", code, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == "waits\n"
        process.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in process.communicate(timeout=30)[1]


def test_a_lock_file_that_was_removed_by_hand_does_not_let_two_in(path: str) -> None:
    inside: list[str] = []
    waits = threading.Semaphore(0)

    def second() -> None:
        with locking.hold(path, on_wait=lambda _: waits.release()):
            inside.append("second")

    thread = threading.Thread(target=second)
    with locking.hold(path):
        thread.start()
        assert waits.acquire(timeout=30)
        os.unlink(path)
        third = locking.hold(path)
        third.__enter__()
    assert waits.acquire(timeout=30)  # it had the lock of the removed file, and waits for the other
    assert inside == []
    third.__exit__(None, None, None)
    thread.join(30)
    assert inside == ["second"]


def test_whoever_may_create_in_the_folder_may_lock(path: str) -> None:
    folder = os.path.dirname(path)
    before = os.umask(0o077)
    try:
        os.chmod(folder, 0o775)  # noqa: S103 - a group's folder
        with locking.hold(path):
            assert stat.S_IMODE(os.stat(path).st_mode) == 0o664
    finally:
        os.umask(before)


def test_a_lock_file_with_nonsense_is_held_by_another_process(path: str) -> None:
    for text in ("", "nonsense", "[]", '{"host": 1}'):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            fcntl.flock(file, fcntl.LOCK_EX)
            with pytest.raises(LockBusy, match="held by another process"), locking.hold(path, wait=False):
                pass


def test_collection_is_alone_only_while_nothing_is_built(path: str) -> None:
    folder = os.path.dirname(path)
    with locking.hold(path), locking.alone(folder) as alone:
        assert not alone
    with locking.alone(folder) as alone:
        assert alone
        with pytest.raises(LockBusy), locking.hold(path, wait=False):
            pass


def test_a_missing_folder_is_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreFailed, match="cannot open the lock"), locking.hold(f"{tmp_path}/no/key.lock"):
        pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_named(
    path: str, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    mount = mounts.mount_of(path)
    with pytest.raises(LocksUnsupported) as caught, locking.hold(path):
        pass
    assert (caught.value.filesystem, caught.value.mount) == (mount.kind, mount.point)
    assert f"locks do not work on the {mount.kind} file system at {mount.point}" in str(caught.value)


def test_locks_that_do_nothing_are_found_out(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "_tested", set())
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    with pytest.raises(LocksUnsupported, match="a file can be locked twice"), locking.hold(path):
        pass


@pytest.mark.parametrize("option", ["nolock", "local_lock=all", "local_lock=flock", "localflock"])
def test_mounts_that_keep_locks_to_one_host_are_refused(
    path: str, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setattr(locking, "_tested", set())
    mount = Mount(point="/shared", kind="nfs4", options=("rw", option))
    monkeypatch.setattr(locking, "mount_of", lambda _: mount)
    with (
        pytest.raises(LocksUnsupported, match=rf"nfs4 file system at /shared: mounted with {option}"),
        locking.hold(path),
    ):
        pass


@needs_linux
@needs_command("cc")
def test_a_kernel_that_refuses_flock_gives_an_error_and_no_second_build(path: str, tmp_path: Path) -> None:
    source = tmp_path / "nolock.c"
    source.write_text("#include <errno.h>\nint flock(int fd, int op) { errno = ENOLCK; return -1; }\n")
    library = tmp_path / "nolock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    found = subprocess.run(
        [sys.executable, "-c", HOLDER, path],
        env={**os.environ, "LD_PRELOAD": str(library)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "held" not in found.stdout
    assert "LocksUnsupported" in found.stderr
    assert "No locks available" in found.stderr


def test_a_lease_keeps_collection_away_until_the_last_inheritor_ended(tmp_path: Path) -> None:
    record = tmp_path / "greenroom.json"
    record.write_text("{}")
    record.chmod(0o444)
    with usage.unleased(str(record)) as free:
        assert free
        with pytest.raises(EnvironmentGone):
            leasing.lease(str(record))
    descriptor = leasing.lease(str(record))
    assert os.get_inheritable(descriptor)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[descriptor]) as child:
        os.close(descriptor)
        with usage.unleased(str(record)) as free:
            assert not free
        child.communicate()
    with usage.unleased(str(record)) as free:
        assert free


def test_two_launches_lease_the_same_record(tmp_path: Path) -> None:
    record = tmp_path / "greenroom.json"
    record.write_text("{}")
    for descriptor in (leasing.lease(str(record)), leasing.lease(str(record))):
        os.close(descriptor)


def test_no_lease_without_a_record_or_on_one_that_is_no_longer_there(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentGone) as caught:
        leasing.lease(f"{tmp_path}/greenroom.json")
    assert caught.value.status == 3


def test_launching_goes_on_where_locks_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tmp_path / "greenroom.json"
    record.write_text("{}")

    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", refuse)
    os.close(leasing.lease(str(record)))


@needs_linux
def test_the_mount_of_a_path_is_the_deepest_one() -> None:
    assert mounts.mount_of("/proc/self").kind == "proc"
    assert mounts.mount_of("/no/such/place").point == "/"
