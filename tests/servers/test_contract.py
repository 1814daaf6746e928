"""The JSON of the servers' commands has the promised form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from greenroom.cli.contract import servers as forms

if TYPE_CHECKING:
    from tests.support.serving import Serving

QUESTIONS: list[tuple[tuple[str, ...], type]] = [
    (("ps",), forms.Servers),
    (("wait", "store"), forms.Servers),
    (("url", "store"), forms.Url),
    (("config",), forms.Config),
    (("restart", "store"), forms.Servers),
    (("stop", "store"), forms.Servers),
    (("down",), forms.Servers),
]
LINES = ("up", "logs")
"""These print lines of JSON: events, and what a server wrote."""


def _conforms(data: object, form: Any) -> None:
    again = json.loads(msgspec.json.encode(msgspec.convert(data, form)))
    assert again == data, "the answer has keys that the contract does not name"


def test_every_question_has_json_of_the_promised_form(serving: Serving) -> None:
    serving.write({"store": 'command = ["python", "web.py", "{port}"]\nready = "http://{host}:{port}/"'})
    up = json.loads(serving.greenroom("up", "--detach", "--json").lines[-1])
    assert (up["schema"], up["command"]) == (1, "up")
    _conforms(up["data"], forms.Servers)
    lines = [json.loads(line) for line in serving.greenroom("logs", "--json").lines]
    assert any(line["name"] == "store" for line in lines)
    for words, form in QUESTIONS:
        envelope = serving.greenroom(*words, "--json").json()
        assert sorted(envelope) == ["command", "data", "schema"], words
        assert (envelope["schema"], envelope["command"]) == (1, words[0])
        _conforms(envelope["data"], form)
