"""The process that owns the servers: it starts them, ends whole trees of them, and reaps what is left.

Run as ``python -m greenroom.servers.guardian FD [--survive]``; FD is a socket to the supervisor. One
thread, no clock, no decision of its own but one: when the supervisor is gone, whatever ended it, every
process below is killed (with ``--survive`` they are left to themselves).

Messages in: ``spawn`` (id, command, program, cwd, env, descriptors), ``signal`` (id, number), ``kill``
(id). Out: ``spawned``, ``refused``, ``exited`` (with whether others of its tree are left) and ``gone``.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from typing import Any

from greenroom.servers import frames, tree

__all__ = ["Guardian", "main"]

_LINUX = sys.platform.startswith("linux")
LISTENING = 3
"""The descriptor under which a server finds the socket that is passed to it."""


class Guardian:
    """Servers by the number that the supervisor gave each launch."""

    def __init__(self, link: socket.socket, *, survive: bool) -> None:
        self._link = link
        self._survive = survive
        self._leaders: dict[int, int] = {}
        """First process -> launch, until it is reaped."""
        self._pids: dict[int, int] = {}
        """Launch -> first process, also while only others of its tree are left."""
        self._killing: set[int] = set()
        self._owners: dict[int, int] = {}
        """Adopted process -> launch, until it is reaped."""

    def run(self) -> None:
        """Serve the supervisor until it is gone, then end everything."""
        wake, woken = socket.socketpair()
        woken.settimeout(0)
        wake.settimeout(0)
        signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, lambda *_: None)  # what is ignored, servers would ignore too
        with selectors.DefaultSelector() as selector:
            selector.register(self._link, selectors.EVENT_READ)
            selector.register(wake, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if wake in ready:
                    with suppress(BlockingIOError):
                        while wake.recv(4096):
                            pass
                    self._reap()
                if self._link in ready and not self._serve():
                    break
        if not self._survive:
            self._end_all()

    def _serve(self) -> bool:
        try:
            found = frames.receive(self._link)
        except OSError:
            found = None
        if found is None:
            return False
        message, descriptors = found
        number = int(message["id"])
        match message["ask"]:
            case "spawn":
                self._spawn(number, message, descriptors)
            case "signal":
                self._signal(number, message["number"])
            case "kill":
                self._killing.add(number)
                self._signal(number, signal.SIGKILL)
        return True

    def _spawn(self, number: int, message: dict[str, Any], descriptors: list[int]) -> None:
        """Start a process in a session of its own; descriptors: directory, output, lease?, socket?."""
        directory, output, *rest = descriptors
        passed = [rest.pop(0)] if message["lease"] else []
        try:
            if message["listening"]:
                os.dup2(rest[0], LISTENING, inheritable=True)
                passed.append(LISTENING)
            command = [message["name"], *message["arguments"]]
            process = subprocess.Popen(
                command,
                executable=message["program"],
                cwd=f"/dev/fd/{directory}",
                env=message["env"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=passed,
                start_new_session=True,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self._tell(id=number, event="refused", reason=getattr(error, "strerror", None) or str(error))
        else:
            self._pids[number] = process.pid
            self._leaders[process.pid] = number
            process.returncode = 0  # reaped here and by nobody else
            self._tell(id=number, event="spawned", pid=process.pid)
        finally:
            if message["listening"]:
                _occupy(LISTENING)
            for descriptor in descriptors:
                os.close(descriptor)

    def _signal(self, number: int, what: int) -> None:
        pid = self._pids.get(number)
        if pid is None:
            return
        members = self._members(number)
        alone = pid not in self._leaders and not any(tree.group(member) == pid for member in members)
        if not alone:  # else the group's number may be another's by now
            with suppress(OSError):
                os.killpg(pid, what)
        for member in members:
            if tree.group(member) != pid:
                tree.end(member, what)

    def _members(self, number: int) -> list[int]:
        """Return the processes of a launch, ended ones that nobody reaped yet included."""
        pid = self._pids[number]
        roots = [pid] if pid in self._leaders else []
        roots += self._left().get(number, [])
        return list(dict.fromkeys(each for root in roots for each in (root, *tree.descendants(root))))

    def _left(self) -> dict[int, list[int]]:
        """Return the adopted processes of each launch."""
        found: dict[int, list[int]] = {}
        for child in tree.children(os.getpid()):
            if child not in self._leaders:
                number = self._owner(child)
                if number is not None:
                    found.setdefault(number, []).append(child)
        return found

    def _owner(self, orphan: int) -> int | None:
        if orphan not in self._owners:
            sessions = {pid: number for number, pid in self._pids.items()}
            found = sessions.get(tree.session(orphan) or 0)
            if found is None:
                launch = (tree.marked(orphan) or "").rpartition("#")[2]
                found = int(launch) if launch.isdigit() and int(launch) in self._pids else None
            if found is None:
                return None
            self._owners[orphan] = found
        return self._owners[orphan]

    def _reap(self) -> None:
        """Take note of every process that ended, adopted ones included."""
        ended: list[tuple[int, int, int]] = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            self._owners.pop(pid, None)
            number = self._leaders.pop(pid, None)
            if number is not None:
                ended.append((number, pid, os.waitstatus_to_exitcode(status)))
        left = self._left()
        for number, pid, code in ended:
            self._tell(id=number, event="exited", status=code, left=number in left or _group_lives(pid))
        self._look(left)

    def _look(self, left: dict[int, list[int]]) -> None:
        """See which trees are gone by now; what came to those that are to be killed is killed too."""
        for number, pid in list(self._pids.items()):
            if pid in self._leaders:
                continue
            if number in left:
                for member in self._members(number) if number in self._killing else ():
                    tree.end(member)
            elif not _group_lives(pid):
                del self._pids[number]
                self._killing.discard(number)
                self._tell(id=number, event="gone")

    def _tell(self, **message: Any) -> None:
        with suppress(OSError):
            frames.send(self._link, message)

    def _end_all(self) -> None:
        """Kill every process below this one until there is none."""
        while True:
            for pid in self._pids.values():
                with suppress(OSError):
                    os.killpg(pid, signal.SIGKILL)
            for each in tree.descendants(os.getpid()):
                tree.end(each)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return


def _group_lives(pid: int) -> bool:
    """Tell whether a process group has members that have not ended, where only groups can be asked."""
    if _LINUX:
        return False  # they were adopted, and so are counted
    try:
        os.killpg(pid, 0)
    except OSError:
        return False
    return True


def _occupy(descriptor: int) -> None:
    """Keep a descriptor's number for the sockets that are passed on."""
    empty = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    if empty != descriptor:
        os.dup2(empty, descriptor, inheritable=False)
        os.close(empty)


def main(arguments: list[str]) -> None:
    """Run the guardian of the supervisor at the other end of a socket."""
    link = socket.socket(fileno=int(arguments[0]))
    if link.fileno() == LISTENING:
        link = socket.socket(fileno=os.dup(link.detach()))
    link.set_inheritable(False)
    _occupy(LISTENING)
    tree.adopt()
    Guardian(link, survive="--survive" in arguments).run()


if __name__ == "__main__":
    main(sys.argv[1:])
