"""Write an image's overview as one page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from greenroom.errors import StoreFailed

if TYPE_CHECKING:
    from greenroom.images.overview import Overview, Row

__all__ = ["text", "write"]

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --bar: #2f7d5b; --soft: #8882; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .25rem 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
th { font-weight: 600; white-space: nowrap; } .number { text-align: right; white-space: nowrap; }
code { font: 13px ui-monospace, monospace; }
.in { background: var(--soft); text-align: right; }
.gantt { display: grid; grid-template-columns: minmax(8rem, 16rem) 1fr; }
.gantt { gap: .3rem .8rem; align-items: center; }
.gantt .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.track { position: relative; height: 1.3rem; background: var(--soft); }
.bar { position: absolute; top: 0; bottom: 0; min-width: 2px; background: var(--bar); }
.time { position: absolute; inset: 0; padding: 0 .4rem; text-align: right; }
.time { font-size: 12px; line-height: 1.3rem; }
"""


def write(found: Overview, declaration: str, path: str) -> None:
    """Write the page to a file.

    :raises StoreFailed: the operating system refuses.
    """
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text(found, declaration))
    except OSError as error:
        raise StoreFailed.of("write the page", path, error) from error


def text(found: Overview, declaration: str) -> str:
    """Return the page.

    :param declaration: the declaration's path, shown as it is.
    """
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<head><meta charset="utf-8"><title>Image plan</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<style>{_STYLE}</style></head>",
            "<body>",
            "<h1>Image plan</h1>",
            f"<p><code>{escape(declaration)}</code></p>",
            _summary(found),
            "<h2>Stages and environments</h2>",
            _stages(found),
            "<h2>Sizes</h2>",
            _sizes(found),
            *_gantt(found),
            "</body></html>",
            "",
        ]
    )


def _summary(found: Overview) -> str:
    actors = sum(len(row.components) for row in found.rows)
    whole, own = sum(row.download for row in found.rows), sum(row.own_download for row in found.rows)
    words = f"{len(found.rows)} environments for {actors} components; {_amount(own)} to download"
    words += f", {_amount(whole - own)} of {_amount(whole)} shared"
    on_driver = f"; on the driver's interpreter: {', '.join(found.drivers)}" if found.drivers else ""
    return f"<p>{escape(words + on_driver)}.</p>"


def _stages(found: Overview) -> str:
    head = "".join(f'<th class="number">{escape(stage)}</th>' for stage in found.stages)
    rows = []
    for row in found.rows:
        counts = dict(row.stages)
        cells = "".join(
            f'<td class="in">{counts[stage]}</td>' if stage in counts else "<td></td>"
            for stage in found.stages
        )
        names = "<br>".join(map(escape, row.components))
        rows.append(f"<tr><td><code>{escape(row.key)}</code></td>{cells}<td>{names}</td></tr>")
    return _table(f"<th>environment</th>{head}<th>components</th>", rows)


def _sizes(found: Overview) -> str:
    rows = [
        f"<tr><td><code>{escape(row.key)}</code></td><td>{escape(row.state)}</td>{_number(row.packages)}"
        + "".join(_bytes(size) for size in (row.download, row.own_download, row.size, row.adds))
        + "</tr>"
        for row in found.rows
    ]
    numbers = ("packages", "download", "of it new", "on disk", "adds to the image")
    head = "".join(f'<th class="number">{name}</th>' for name in numbers)
    return _table(f"<th>environment</th><th>state</th>{head}", rows)


def _gantt(found: Overview) -> list[str]:
    """Return when the last stage of each environment was built; nothing when none was."""
    rows = [(row, row.began, row.seconds) for row in found.rows]
    built = [
        (row, began, seconds) for row, began, seconds in rows if began is not None and seconds is not None
    ]
    if not built:
        return []
    start = min(began for _, began, _ in built)
    length = max(max(began + seconds for _, began, seconds in built) - start, 0.001)
    bars = [
        _bar(row, (began - start) / length, seconds / length, seconds)
        for row, began, seconds in sorted(built, key=lambda entry: entry[1])
    ]
    words = f"<p>{length:.1f} s from the first to the last; of each environment its last stage.</p>"
    return ["<h2>Build</h2>", words, '<div class="gantt">', *bars, "</div>"]


def _bar(row: Row, left: float, width: float, seconds: float) -> str:
    name = escape(", ".join(row.components))
    shown = escape(", ".join(component.rpartition(".")[2] for component in row.components))
    return (
        f'<div class="name" title="{name}">{shown}</div>'
        f'<div class="track"><div class="bar" style="left:{left:.2%};width:{width:.2%}"></div>'
        f'<div class="time">{seconds:.1f} s</div></div>'
    )


def _table(head: str, rows: list[str]) -> str:
    body = "\n".join(rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def _number(value: int) -> str:
    return f'<td class="number">{value}</td>'


def _bytes(size: int | None) -> str:
    return f'<td class="number">{"" if size is None else _amount(size)}</td>'


def _amount(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
