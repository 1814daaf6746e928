"""Take greenroom's own sentence out of what Ray makes of it."""

from __future__ import annotations

import re

__all__ = ["explain"]

MARK = "greenroom: "
"""What the plugin's last line begins with; Ray puts some twenty lines of traceback around it."""

_LINE = re.compile(rf"(?:^|[:\s]){MARK}(.+)$", re.MULTILINE)


def explain(error: BaseException) -> str | None:
    """Return greenroom's sentence from an error that Ray raised, None when it says nothing of ours.

    :param error: for example ``ray.exceptions.RuntimeEnvSetupError``, or one whose cause it is.
    """
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        text = f"{getattr(found, 'error_message', '')}\n{found}"
        lines = _LINE.findall(text)
        if lines:
            return str(lines[-1]).strip()
        found = found.__cause__ or found.__context__ or getattr(found, "cause", None)
    return None
