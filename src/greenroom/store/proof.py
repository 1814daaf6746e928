"""Prove that an environment holds what its recipe says, before it counts as ready.

uv writes a package's metadata before its payload, so an install that was killed looks complete to
every check of uv's own. Here every row of every RECORD is looked at, the set of distributions is
compared with the recipe's, and the environment's interpreter and one console script are started.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from greenroom.errors import ClashError, ProofFailed
from greenroom.recipes.model import Wheel
from greenroom.store import contents, rows, surroundings
from greenroom.store.model import Clash, Fault, Finding, Installed
from greenroom.store.starting import Start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from greenroom.recipes.model import Distribution, Recipe
    from greenroom.uv.process import Group

__all__ = ["Proof", "findings_of", "prove", "with_wheels"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What was proven, and what later steps need of it."""

    installed: tuple[Installed, ...]
    clashes: tuple[Clash, ...] = ()
    """Files that several distributions bring differently, each with the winner that stands there."""
    faults: tuple[Fault, ...] = ()
    """Rows that a fresh download contradicts in the same way: the packages' fault."""
    sources: tuple[contents.Source, ...] = ()
    """Python files of ``site-packages``: what can be compiled."""
    shipped: frozenset[str] = frozenset()
    """Bytecode that wheels brought themselves."""
    irregular: bool = False
    """Whether somebody cannot read a file, or others can write it."""
    libc: str = ""
    """The lowest glibc that the binaries need, by their wheels' tags; empty: any."""


def prove(  # noqa: PLR0913 - all but two by name
    root: str,
    recipe: Recipe,
    *,
    group: Group,
    private: str | None = None,
    pending: Collection[str] = (),
    before: Sequence[Finding] = (),
    deep: bool = False,
    start: bool = True,
    sources: bool = True,
) -> Proof:
    """Prove an environment at its final path.

    :param root: the environment's directory, absolute.
    :param group: the processes' group in which its interpreter is started.
    :param private: the name under which it was built; no text in it may hold that.
    :param pending: distributions that may be absent: a partial environment's late ones.
    :param before: the findings of the proof before this one, when the distributions at fault were
        fetched and installed anew meanwhile: what differs again in the same way is the package's
        own fault and no damage.
    :param deep: compare digests too, not sizes alone.
    :param start: start the interpreter and a console script.
    :param sources: whether the proof lists the sources: only who compiles them needs that.
    :raises ProofFailed: it differs; the error names the distributions at fault.
    :raises ClashError: distributions bring different files for one path and no winner is named.
    :raises StoreFailed: the environment cannot be read.
    """
    known = {(item.path, item.sha256): item for item in before if item.path and item.sha256}
    proof, findings = findings_of(
        root,
        recipe,
        group=group,
        private=private,
        pending=pending,
        deep=deep,
        start=start,
        script=True,
        sources=sources,
    )
    faults, remaining = [], []
    for item in findings:
        if (item.path, item.sha256) in known:
            faults.append(_fault(item))
        else:
            remaining.append(item)
    if remaining:
        raise ProofFailed(root, remaining)
    undecided = [clash for clash in proof.clashes if clash.winner is None]
    if undecided:
        raise ClashError(root, undecided)
    return replace(proof, faults=tuple(faults))


def findings_of(  # noqa: PLR0913 - all but two by name
    root: str,
    recipe: Recipe,
    *,
    group: Group,
    private: str | None = None,
    pending: Collection[str] = (),
    faults: Sequence[Fault] = (),
    deep: bool = False,
    start: bool = True,
    script: bool = False,
    sources: bool = True,
) -> tuple[Proof, tuple[Finding, ...]]:
    """Look at everything as :func:`prove` does, and return what was found instead of raising.

    :param faults: what the record knows of the packages' own wrong rows.
    :param script: start the interpreter by a console script, for which a file is written for a moment.
    :raises StoreFailed: the environment cannot be read.
    """
    site = rows.site_packages(root)
    starting = _started(root, group, script=script) if start else None
    found, unreadable = rows.distributions(root)
    scan = contents.scan(root, site, found, last=recipe.last, faults=faults, deep=deep, sources=sources)
    findings = [
        *unreadable,
        *_set_differences(recipe.distributions, found, pending, {item.distribution for item in unreadable}),
        *scan.findings,
        *surroundings.config(root, recipe.python),
        *surroundings.private_names(root, site, found, private),
        *(starting.findings(recipe.python) if starting is not None else ()),
    ]
    proof = Proof(
        installed=_installed(recipe, found, scan.sizes),
        clashes=scan.clashes,
        sources=scan.sources,
        shipped=scan.shipped,
        irregular=scan.irregular,
        libc=surroundings.libc(root, recipe, found),
    )
    return proof, tuple(findings)


def with_wheels(installed: Iterable[Installed], wheels: Mapping[str, str]) -> tuple[Installed, ...]:
    """Return the same with the digests of wheels that no recipe names: built and late ones."""
    return tuple(replace(item, wheel=item.wheel or wheels.get(item.name)) for item in installed)


def _started(root: str, group: Group, *, script: bool) -> Start:
    # It runs beside the scan: an interpreter's start costs about as much as a third of it.
    starting = Start(root, group, script=surroundings.console_script(root) if script else None)
    starting.start()
    return starting


def _set_differences(
    wanted: Iterable[Distribution],
    found: Sequence[rows.Found],
    pending: Collection[str],
    unreadable: Collection[str | None],
) -> list[Finding]:
    there = {item.name: item.version for item in found}
    findings = [
        Finding(
            kind="version",
            distribution=item.name,
            message=f"is {found_version}, the recipe says {item.version}",
        )
        for item in wanted
        if (found_version := there.get(item.name)) and item.version and not _same(found_version, item.version)
    ]
    names = {item.name for item in wanted}
    findings += [
        Finding(kind="absent", distribution=item.name, message="is not installed")
        for item in wanted
        if item.name not in there and item.name not in pending and item.name not in unreadable
    ]
    findings += [
        Finding(kind="unexpected", distribution=name, message="is installed, the recipe does not name it")
        for name in there
        if name not in names
    ]
    seen: set[str] = set()
    for item in found:
        if item.name in seen:
            findings.append(
                Finding(
                    kind="unexpected", distribution=item.name, path=item.info, message="is installed twice"
                )
            )
        seen.add(item.name)
    return findings


def _same(one: str, other: str) -> bool:
    if one == other:
        return True
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - rarely needed

    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        return False


def _installed(recipe: Recipe, found: Sequence[rows.Found], sizes: dict[str, int]) -> tuple[Installed, ...]:
    contents_ = {item.name: item.content for item in recipe.distributions}
    return tuple(
        Installed(
            name=item.name,
            version=item.version,
            record=item.record,
            wheel=content.sha256 if isinstance(content := contents_.get(item.name), Wheel) else None,
            files=len(item.rows),
            size=sizes.get(item.name, 0),
        )
        for item in found
    )


def _fault(finding: Finding) -> Fault:
    return Fault(
        distribution=finding.distribution or "",
        path=finding.path or "",
        size=finding.size or 0,
        sha256=finding.sha256 or "",
    )
