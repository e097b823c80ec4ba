"""How requests are shared out among recorders: each one once, and few sessions opened."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from toolchain.bundle.model import Target
from toolchain.bundle.recording import Request, Shares


def requests(sizes: list[int]) -> list[Request]:
    """As many sessions as there are sizes, of so many requests."""
    return [
        Request(f"{session}.{number}", Path(f"{session}.slang"), (("main", "compute"),), Target.VULKAN, ())
        for session, size in enumerate(sizes)
        for number in range(size)
    ]


def opened(taken: list[Request]) -> int:
    """How many sessions a worker opens that goes through requests in this order."""
    sessions = [one.session for one in taken]
    return sum(one != before for one, before in zip(sessions, [None, *sessions[:-1]], strict=True))


@given(
    sizes=st.lists(st.integers(1, 20), min_size=1, max_size=6),
    turns=st.lists(st.tuples(st.integers(0, 3), st.booleans())),
)
def test_each_request_is_taken_once(sizes: list[int], turns: list[tuple[int, bool]]) -> None:
    """Whatever the workers' turns are, and whatever comes back because a process crashed."""
    all_of_them = requests(sizes)
    shares = Shares(all_of_them, workers=4)
    taken: list[Request] = []
    for worker, crashes in turns:
        request = shares.take_ahead(worker) if crashes else shares.take(worker)
        if request is not None and crashes:
            shares.give_back(worker, request)
        elif request is not None:
            taken.append(request)
    idle: set[int] = set()
    while len(idle) < 4:
        for worker in range(4):
            if (request := shares.take(worker)) is None:
                idle.add(worker)
            else:
                taken.append(request)
    # Of the last ones of a worker, none is taken by another: it takes them itself.
    assert sorted(taken, key=lambda one: one.name) == sorted(all_of_them, key=lambda one: one.name)


@given(sizes=st.lists(st.integers(1, 50), min_size=1, max_size=5))
def test_one_worker_opens_each_session_once(sizes: list[int]) -> None:
    shares = Shares(requests(sizes), workers=1)
    taken = list(iter(lambda: shares.take(0), None))
    assert opened(taken) == len(sizes)
    assert [len(list(one)) for one in _runs(taken)] == sorted(sizes, reverse=True)


def test_a_worker_without_a_session_takes_half_of_the_largest() -> None:
    shares = Shares(requests([100]), workers=2)
    by_worker: list[list[Request]] = [[], []]
    for turn in range(102):
        request = shares.take(turn % 2)
        if request is not None:
            by_worker[turn % 2].append(request)
    assert [len(one) for one in by_worker] == [51, 49]
    assert [opened(one) for one in by_worker] == [1, 1]


def test_none_is_taken_ahead_where_another_worker_would_be_idle() -> None:
    shares = Shares(requests([1, 1, 1]), workers=2)
    assert shares.take(0) is not None
    assert shares.take_ahead(0) is None
    assert shares.take(1) is not None
    assert shares.take(0) is not None
    assert shares.take(1) is None


def _runs(taken: list[Request]) -> list[list[Request]]:
    runs: list[list[Request]] = []
    for request in taken:
        if runs and runs[-1][0].session == request.session:
            runs[-1].append(request)
        else:
            runs.append([request])
    return runs
