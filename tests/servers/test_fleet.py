"""Servers that need one another: started and stopped in order, and told at once what never comes."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from greenroom.servers.fleet import Fleet, circle
from greenroom.servers.model import Exited, Launch, Proven, Rules, Signal, Spawned, State, Unit


def fleet(**needs: tuple[tuple[str, str], ...]) -> Fleet:
    made = Fleet()
    for name, rules in needs.items():
        made.add(Unit(name=name, server=name, rules=Rules(needs=rules, probed=True)))
    return made


def launched(decided: object) -> list[str]:
    assert isinstance(decided, list)
    return [name for name, decision in decided if isinstance(decision, Launch)]


def ready(made: Fleet, name: str, now: float) -> list[str]:
    made.handle(name, Spawned(1), now)
    return launched(made.handle(name, Proven(), now))


def test_what_is_needed_is_started_first() -> None:
    made = fleet(web=(("db", "ready"),), db=())
    assert launched(made.ask(["web", "db"], "start", 0)) == ["db"]
    assert ready(made, "db", 1) == ["web"]


def test_started_is_enough_where_only_that_is_needed() -> None:
    made = fleet(web=(("db", "started"),), db=())
    assert sorted(launched(made.ask(["web", "db"], "start", 0))) == ["db", "web"]


def test_a_job_that_must_be_completed() -> None:
    made = fleet(web=(("job", "completed"),), job=())
    made.ask(["web", "job"], "start", 0)
    assert ready(made, "job", 1) == []
    assert launched(made.handle("job", Exited(0), 2)) == ["web"]


def test_needs_on_one_that_failed_are_told_at_once_and_down_the_line() -> None:
    made = fleet(page=(("web", "ready"),), web=(("db", "ready"),), db=())
    made.ask(["page", "web", "db"], "start", 0)
    made.handle("db", Spawned(1), 0)
    made.handle("db", Exited(3), 1)
    assert {name: unit.state for name, unit in made.units.items()} == dict.fromkeys(made.units, State.FAILED)
    assert made.units["web"].reason == "needs db ready: db ended with status 3 before it was ready"
    assert made.units["page"].reason.startswith("needs web ready: web needs db ready")


def test_a_needed_server_that_will_be_started_again_is_waited_for() -> None:
    made = fleet(web=(("db", "ready"),))
    made.add(Unit(name="db", server="db", rules=Rules(probed=True, policy="always")))
    made.ask(["web", "db"], "start", 0)
    made.handle("db", Spawned(1), 0)
    made.handle("db", Exited(3), 1)
    assert (made.units["db"].state, made.units["web"].state) == (State.BACKOFF, State.WAITING)


def test_all_replicas_must_be_ready() -> None:
    made = fleet(web=(("db", "ready"),))
    for name in ("db.1", "db.2"):
        made.add(Unit(name=name, server="db", rules=Rules(probed=True)))
    made.ask(["web", "db.1", "db.2"], "start", 0)
    assert ready(made, "db.1", 1) == []
    assert ready(made, "db.2", 2) == ["web"]


def test_what_is_needed_is_stopped_last() -> None:
    made = fleet(web=(("db", "ready"),), db=())
    made.ask(["web", "db"], "start", 0)
    ready(made, "db", 1)
    ready(made, "web", 1)
    stopped = [name for name, decision in made.ask(["db", "web"], "stop", 2) if isinstance(decision, Signal)]
    assert stopped == ["web"]
    after = [name for name, decision in made.handle("web", Exited(-15), 3) if isinstance(decision, Signal)]
    assert after == ["db"]


def test_circles_are_found() -> None:
    assert circle({"a": ["b"], "b": ["c"], "c": ["a"]}) == ("a", "b", "c", "a")
    assert circle({"a": ["a"]}) == ("a", "a")
    assert circle({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}) == ()


names = st.sampled_from("abcdef")


@given(st.dictionaries(names, st.lists(names, max_size=3)))
def test_a_circle_is_one_and_without_one_there_is_an_order(needs: dict[str, list[str]]) -> None:
    found = circle(needs)
    if found:
        assert found[0] == found[-1]
        assert all(after in needs[before] for before, after in pairwise(found))
        return
    done: set[str] = set()
    while len(done & needs.keys()) < len(needs):
        free = [name for name in needs if name not in done and {n for n in needs[name] if n in needs} <= done]
        assert free, "no order"
        done.update(free)
