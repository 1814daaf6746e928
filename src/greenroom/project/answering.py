"""Answer about components by whichever road is open: the snapshot when it holds, else the full one."""

from __future__ import annotations

from greenroom import snapshot
from greenroom.errors import EnvironmentDamaged, EnvironmentMissing, NotReadyError
from greenroom.project.locating import locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.errors import GreenroomError
    from greenroom.project.model import Plan
    from greenroom.snapshot import Answer, Snapshot

__all__ = ["Known", "known", "launchable", "memory", "not_ready", "one"]


class Known:
    """What is known of all components, by either road."""

    __slots__ = ("answers", "declaration", "notes", "stores")

    def __init__(self, declaration: str, stores: list[str], answers: list[Answer], notes: list[str]) -> None:
        self.declaration = declaration
        self.stores = stores
        self.answers = answers
        self.notes = notes


def memory(start: str | None, environ: Mapping[str, str]) -> Snapshot | None:
    """Return the snapshot of the declaration that counts at ``start``, None when it does not hold."""
    declaration = locate(start, environ)
    return None if declaration is None else snapshot.load(declaration, environ)


def known(start: str | None, environ: Mapping[str, str]) -> Known:
    """Return what is known of all components; what the full road finds is remembered.

    :raises DeclarationNotFound: there is none.
    :raises Problems: the declaration has errors.
    """
    remembered = memory(start, environ)
    if remembered is not None:
        answers = remembered.answers()
        if answers is not None:
            remembered.refresh()
            return Known(remembered.declaration, remembered.stores, answers, remembered.notes)
    from greenroom.project import remembering  # noqa: PLC0415 - the full road is heavy

    plan = _plan(start, environ, (), writing=True)
    remembering.remember(plan, environ)
    stores = [store.path for store in plan.setting.stores]
    return Known(plan.setting.declaration.file, stores, remembering.answers(plan), list(plan.notes))


def one(start: str | None, environ: Mapping[str, str], name: str) -> Answer:
    """Return what is known of one component, without writing and without uv.

    :raises UnknownComponent: the declaration has no such name.
    :raises GreenroomError: its environment cannot be told, and why.
    """
    remembered = memory(start, environ)
    answer = None if remembered is None else remembered.answer(name)
    if answer is not None and not_ready(answer) is None:
        return answer
    from greenroom.project import remembering  # noqa: PLC0415 - the full road is heavy

    plan = _plan(start, environ, (name,), writing=False)
    for problem in plan.problems:
        raise _translated(name, problem.error) from problem.error
    return remembering.answers(plan)[0]


def launchable(start: str | None, environ: Mapping[str, str], name: str) -> Answer:
    """Return what is known of one component that can be started now.

    :raises UnknownComponent: the declaration has no such name.
    :raises NotReadyError: its environment is not ready, and what to type.
    """
    answer = one(start, environ, name)
    error = not_ready(answer)
    if error is not None:
        raise error
    return answer


def not_ready(answer: Answer) -> NotReadyError | None:
    """Return the error that a component in this state gives when it is to be started.

    One whose editables have other metadata by now is as it was proven, and can be started.
    """
    if answer.state in {"ready", "driver"} or (answer.state == "stale" and answer.key is not None):
        return None
    reason = answer.problem or ""
    if answer.state == "damaged":
        return EnvironmentDamaged(answer.name, reason=reason, path=answer.environment or "")
    if answer.state == "missing" and answer.key is not None:
        return EnvironmentMissing(answer.name)
    return EnvironmentMissing(answer.name, reason=": ".join(filter(None, (f"is {answer.state}", reason))))


def _plan(start: str | None, environ: Mapping[str, str], names: tuple[str, ...], *, writing: bool) -> Plan:
    from greenroom.declaration import reading  # noqa: PLC0415 - the full road is heavy
    from greenroom.project import planning  # noqa: PLC0415

    found = planning.setting(reading.find_declaration(start, environ), environ, watch=writing)
    planner = planning.Planner(found, environ, ask_uv=writing, watch=writing)
    return planner.plan(planning.chosen(found.declaration, names))


def _translated(name: str, error: GreenroomError) -> GreenroomError:
    """Return what a problem means to somebody who wants to start a component: some only need a sync."""
    from greenroom.errors import LockMissing, PythonNotFound  # noqa: PLC0415 - only when something is wrong

    if isinstance(error, PythonNotFound) and error.request.startswith("/"):
        return EnvironmentMissing(name, reason=f"cannot be used: {error.what}", todo=error.todo)
    if isinstance(error, LockMissing | PythonNotFound):
        # A sync writes greenroom's own locks; others are for somebody else to write.
        others = isinstance(error, LockMissing) and not (error.todo or "").startswith("greenroom ")
        return EnvironmentMissing(
            name, reason=f"is not built: {error.what}", todo=error.todo if others else None
        )
    return error
