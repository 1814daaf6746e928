"""One cause is one finding, whoever it touches."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from greenroom.checks.model import Finding, Severity, from_error, merged
from greenroom.errors import LockMissing, Problems, UvMissing

FINDINGS = st.builds(
    Finding,
    check=st.sampled_from(["a", "b"]),
    severity=st.sampled_from([Severity.ERROR, Severity.WARNING, Severity.NOTE]),
    what=st.sampled_from(["x", "y"]),
    where=st.sampled_from([None, "file:1", "file:2"]),
    todo=st.sampled_from([None, "do"]),
    components=st.lists(st.sampled_from(["A", "B", "C"]), unique=True).map(tuple),
)


@given(st.lists(FINDINGS))
def test_no_cause_is_said_twice_and_no_component_is_lost(findings: list[Finding]) -> None:
    joined = merged(findings)
    causes = [(one.check, one.severity, one.what, one.todo) for one in joined]
    assert len(set(causes)) == len(causes)
    for finding in findings:
        (own,) = [one for one in joined if replace(one, where=None, components=()) == _bare(finding)]
        assert set(finding.components) <= set(own.components)
        assert finding.where is None or finding.where in str(own.where)


def _bare(finding: Finding) -> Finding:
    return replace(finding, where=None, components=())


@given(st.lists(FINDINGS))
def test_errors_come_first_then_warnings_then_notes(findings: list[Finding]) -> None:
    order = [Severity.ERROR, Severity.WARNING, Severity.NOTE]
    found = [order.index(one.severity) for one in merged(findings)]
    assert found == sorted(found)


@given(st.lists(FINDINGS))
def test_merging_again_changes_nothing(findings: list[Finding]) -> None:
    assert merged(merged(findings)) == merged(findings)


def test_many_places_are_counted() -> None:
    one = Finding(check="a", severity=Severity.NOTE, what="x")
    (found,) = merged(replace(one, where=f"file:{line}") for line in range(1, 7))
    assert found.where == "file:1, file:2, file:3 and 3 more"


def test_several_errors_in_one_are_several_findings() -> None:
    both = Problems([UvMissing(["/bin"]), LockMissing("uv.lock", where="here", todo="uv lock")])
    found = list(from_error("sources", both, ["A"]))
    assert [(one.what, one.where) for one in found] == [
        ("no uv found in /bin", None),
        ("there is no uv.lock", "here"),
    ]
    assert {one.components for one in found} == {("A",)}
