"""Words for what was found, copied and removed."""

from __future__ import annotations

from greenroom.cli.words import amount, count, few, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from greenroom.cli.style import Style

__all__ = ["show_edit", "show_gc", "show_verify"]

_SHOWN = 10


def show_verify(data: Mapping[str, Any], style: Style) -> str:
    """Return each finding below its environment, and the numbers."""
    lines: list[str] = []
    for found in data["environments"]:
        if found["findings"] or found["state"] != "ready":
            lines += _verified(found, style)
    for problem in data["problems"]:
        lines.append(f"{style.paint('stale', 'stale')}  {few(problem['components'])}\n  {problem['message']}")
    if not style.quiet:
        lines.append(style.paint(_numbers(data["environments"]), "bold"))
    return "\n".join(lines)


def show_edit(data: Mapping[str, Any], style: Style) -> str:
    """Return the copy's interpreter, with what the copy is."""
    if style.quiet:
        return str(data["interpreter"])
    words = f"a private copy of {data['name']}'s environment; start it with {data['interpreter']}"
    return f"{data['path']}\n  {words}"


def show_gc(data: Mapping[str, Any], style: Style) -> str:
    """Return what was removed from each store, and how much space that gives."""
    lines: list[str] = []
    for store in data["stores"]:
        lines += _collected(store, style, would=data["dry_run"])
    return "\n".join(lines)


def _numbers(environments: list[Mapping[str, Any]]) -> str:
    there = [found for found in environments if found["state"] != "missing"]
    changed = sum(1 for found in there if _changed(found))
    failing = sum(1 for found in there if any(each["kind"] == "smoke" for each in found["findings"]))
    repaired = sum(1 for found in there if found["repaired"])
    ran = [found["statements"] for found in there if found["statements"] is not None]
    words = [f"{count(len(there), 'environment')} verified"]
    words.append(f"{changed} not as proven" if changed else "all as proven" if there else "")
    if ran:
        run = f"{count(sum(ran), 'smoke statement')} run" if any(ran) else "no smoke statement declared"
        words.append(f"{run}, failing in {failing}" if failing else run)
    words.append(f"{repaired} repaired" if repaired else "")
    missing = len(environments) - len(there)
    words.append(f"{missing} missing" if missing else "")
    return ", ".join(filter(None, words))


def _changed(found: Mapping[str, Any]) -> bool:
    return any(each["kind"] != "smoke" for each in found["findings"])


def _verified(found: Mapping[str, Any], style: Style) -> Iterator[str]:
    state = "damaged" if _changed(found) else "failed" if found["findings"] else found["state"]
    end = ""
    if found["repaired"] is not None:
        end = "  repaired" if found["repaired"] else f"  not repaired: {found['error']}"
    yield f"{style.paint(state, state)}  {short(found['key'])}  {few(found['components'])}{end}"
    shown = found["findings"] if style.verbose else found["findings"][:_SHOWN]
    for finding in shown:
        place = " ".join(filter(None, (finding["distribution"], finding["path"])))
        yield f"  {place}: {finding['message']}" if place else f"  {finding['message']}"
    if len(found["findings"]) > len(shown):
        yield f"  and {len(found['findings']) - len(shown)} more (--verbose)"


def _collected(store: Mapping[str, Any], style: Style, *, would: bool) -> Iterator[str]:
    if not style.quiet:
        rows = [[item["kind"], item["name"], item["reason"]] for item in store["removed"]]
        if style.verbose:
            rows += [["kept", kept["key"], kept["reason"]] for kept in store["kept"]]
        if rows:
            yield style.table(rows, {"kept": "ready"})
    verb = "would free" if would else "freed"
    line = (
        f"{store['path']}: {verb} {amount(store['freed'])}, keeps {count(len(store['kept']), 'environment')}"
    )
    yield style.paint(line, "bold")
    if store["busy"]:
        yield "  builds were running: shared files stay until the next time"
