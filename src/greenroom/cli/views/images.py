"""Words for an image's stages, contents and differences."""

from __future__ import annotations

from greenroom.cli.words import amount, count, few, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from greenroom.cli.style import Style

__all__ = ["show_image"]


def show_image(data: Mapping[str, Any], style: Style) -> str:
    """Return what an action did or found."""
    lines = {
        "sync": _sync,
        "plan": _plan,
        "dockerfile": _files,
        "freeze": _freeze,
        "verify": _verify,
        "wrappers": _wrappers,
        "prune-cache": _prune,
    }[data["action"]](data, style)
    return "\n".join(lines)


def _sync(data: Mapping[str, Any], style: Style) -> Iterator[str]:
    for found in data["environments"]:
        if style.quiet or (found["state"] == "ready" and found["action"] == "ready" and not style.verbose):
            continue
        yield f"{style.paint(found['state'], found['state'])}  {short(found['key'])}  {_words(found)}"
    for name, extra in data["skipped"].items():
        if not style.quiet:
            yield f"skipped  {name}  needs {extra}"
    yield from _problems(data, style)
    if not style.quiet:
        states = [found["state"] for found in data["environments"]]
        numbers = [f"{states.count(state)} {state}" for state in ("ready", "partial", "missing")]
        said = ", ".join(number for number in numbers if not number.startswith("0 "))
        yield style.paint(f"stage {data['stage']}: {said or 'nothing to build'}", "bold")
        if data["linked"]:
            yield f"  {count(data['linked'], 'file')} linked between environments"
        for note in data["notes"]:
            yield f"  {note}"


def _words(found: Mapping[str, Any]) -> str:
    words = few(found["components"])
    if found["action"] in {"built", "continued"}:
        words += f"  {found['action']} in {found['seconds']:.1f} s"
        words += f" (+ {few(found['brought'])})" if found["brought"] else ""
    if found["waits_for"]:
        words += f"  waits for stage {', '.join(found['waits_for'])}: {few(found['pending'])}"
    if found["missed"]:
        words += f"  (skipped: {', '.join(found['missed'])})"
    return words


def _plan(data: Mapping[str, Any], style: Style) -> Iterator[str]:
    rows = [["ENVIRONMENT", "STAGES", "PACKAGES", "DOWNLOAD", "NEW", "ON DISK", "ADDS", "COMPONENTS"]]
    for found in data["environments"]:
        stages = " ".join(f"{stage}:{number}" for stage, number in found["stages"].items())
        sizes = [found["download"], found["own_download"], found["size"], found["adds"]]
        cells = ["" if size is None else amount(size) for size in sizes]
        names = ", ".join(found["components"]) if style.verbose else few(found["components"], 1)
        rows.append([short(found["key"]), stages, str(found["packages"]), *cells, names])
    if len(rows) > 1:
        yield style.table(rows)
    yield from _problems(data, style)
    if style.quiet:
        return
    whole = sum(found["download"] for found in data["environments"])
    own = sum(found["own_download"] for found in data["environments"])
    line = f"{count(len(data['environments']), 'environment')} in stages {', '.join(data['stages'])}"
    yield style.paint(f"{line}; {amount(own)} to download, {amount(whole - own)} shared", "bold")
    for path in data["files"].values():
        yield f"  {path}"
    for note in data["notes"]:
        yield f"  {note}"


def _files(data: Mapping[str, Any], style: Style) -> Iterator[str]:
    del style
    texts = data["files"]
    if len(texts) == 1 or all("\n" not in text for text in texts.values()):
        yield from (text.rstrip("\n") for text in texts.values())
        return
    for name, text in texts.items():
        yield f"# ---- {name}"
        yield text.rstrip("\n")


def _freeze(data: Mapping[str, Any], style: Style) -> Iterator[str]:
    for found in data["environments"]:
        if found["state"] != "ready" and not style.quiet:
            more = f"  still to come: {few(found['pending'])}" if found["pending"] else ""
            state = style.paint(found["state"], found["state"])
            yield f"{state}  {short(found['key'])}  {few(found['components'])}{more}"
    yield data["fingerprint"]


def _verify(data: Mapping[str, Any], style: Style) -> Iterator[str]:
    for drift in data["drift"]:
        kind = {"problem": "stale", "changed": "stale", "new": "missing", "metadata": "partial"}.get(
            drift["kind"], drift["kind"]
        )
        yield f"{style.paint(drift['kind'], kind)}  {few(drift['components'])}"
        shown = drift["differences"] if style.verbose else drift["differences"][:10]
        yield from (f"  {line}" for line in shown)
        if len(shown) < len(drift["differences"]):
            yield f"  and {len(drift['differences']) - len(shown)} more (--verbose)"
    yield from _problems(data, style)
    if style.quiet:
        return
    number = len(data["environments"])
    if not data["drift"]:
        yield style.paint(f"{count(number, 'environment')}: the image is as it was frozen", "bold")
    elif all(drift["kind"] == "metadata" for drift in data["drift"]):
        words = "nothing but metadata of editable sources changed: a new local stage would take them up"
        yield style.paint(words, "bold")
    elif data["policy"] == "rebuild":
        yield style.paint(f"{count(len(data['rebuilt']), 'environment')} built beside the image", "bold")
    else:
        hard = [drift for drift in data["drift"] if drift["kind"] != "metadata"]
        names = {name for drift in hard for name in drift["components"]}
        line = f"{count(len(names), 'component')} of this declaration differ from the image"
        todo = "" if data["policy"] == "warn" else "; build the image anew, or use --on-drift rebuild"
        yield style.paint(line + todo, "bold")


def _wrappers(data: Mapping[str, Any], style: Style) -> Iterator[str]:
    del style
    yield from data["files"].values()


def _prune(data: Mapping[str, Any], style: Style) -> Iterator[str]:
    if not style.quiet:
        yield f"{count(data['removed'], 'file')} removed, {amount(data['freed'])} freed"


def _problems(data: Mapping[str, Any], style: Style) -> Iterator[str]:
    for problem in data["problems"]:
        yield f"{style.paint('failed', 'damaged')}  {few(problem['components'])}\n  {problem['message']}"
