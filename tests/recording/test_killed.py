"""A recorder that is killed at any moment leaves a log that can be read, and that never looks complete."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import pytest_cvaudit as cvaudit
from pytest_cvaudit.model import Status
from tests.recording.conftest import folds, read

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

FOLDS = list(folds())


def record(path, acknowledge=lambda: None, pause=0.0, **options):
    """Record four folds and a claim; acknowledge the beginning, each fold and the end."""
    with cvaudit.Recorder(path, **options) as recorder:
        acknowledge()
        for truth, predicted, score, test in FOLDS:
            time.sleep(pause)
            recorder.fold(truth, predicted, score, test=test)
            acknowledge()
        recorder.claim("f1", "0.50")
    acknowledge()


def in_child(work):
    """Run in a child process, and return how often it acknowledged and whether it was killed."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if not child:
        try:
            os.close(reader)
            work(lambda write=os.write: write(writer, b"."))
        finally:
            os._exit(1)
    os.close(writer)
    return child, reader


def outcome(child, reader, patience=60):
    # A child of a process with threads can hang on a lock that one of them held; it is killed then, as any other.
    watch = threading.Timer(patience, os.kill, (child, signal.SIGKILL))
    watch.start()
    try:
        with os.fdopen(reader, "rb") as stream:
            acknowledged = len(stream.read())
        return acknowledged, os.WIFSIGNALED(os.waitpid(child, 0)[1])
    finally:
        watch.cancel()


def check(path, acknowledged, thorough=True):
    """What the killed process had acknowledged is there, at most one fold more, and it looks complete only if it is."""
    if not path.exists():
        assert not acknowledged
        return
    found = read(path)
    rows = found.predictions
    recorded = 0 if rows is None else len(rows.cells)
    assert max(0, acknowledged - 1) - (acknowledged == 6) <= recorded <= acknowledged
    for index in range(recorded):
        truth, predicted, score, test = FOLDS[index]
        mine = rows.cell == index
        assert np.array_equal(rows.truth[mine], truth)
        assert np.array_equal(rows.predicted[mine], predicted)
        assert np.array_equal(rows.scores["1"][mine], score[:, 1])
        assert rows.ids[mine].tolist() == test.astype(str).tolist()
    if not found.missing:
        assert recorded == len(FOLDS) and [str(claim) for claim in found.claims] == ["f1 = 0.50"]
        return
    assert acknowledged < 6
    if thorough:
        outcomes = {one.code: one for one in cvaudit.audit([found]).outcomes}
        assert outcomes["CV103"].status is Status.FAILED
        assert "has no result" in outcomes["CV103"].reason


#: What touches the disk, and how each can be cut: before it, or in the middle of a write.
STEPS = ("write", "fsync", "replace", "rename", "ftruncate", "mkdir", "unlink")


def die_at(step, half):
    """Let this process be killed at its nth step on the disk, perhaps with half of the bytes written."""
    count = iter(range(1_000_000))

    def hooked(name, original):
        def call(*args, **keywords):
            if next(count) == step:
                if name == "write" and half:
                    original(args[0], bytes(args[1])[: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*args, **keywords)

        return call

    for name in STEPS:
        setattr(os, name, hooked(name, getattr(os, name)))


@pytest.mark.parametrize("half", [False, True])
def test_killed_at_every_step_on_the_disk(target, encoding, half):
    moments = 0
    for step in range(1000):
        path = target.with_name(f"{step}{target.suffix}")

        def work(acknowledge, path=path, step=step):
            die_at(step, half)
            record(path, acknowledge)

        acknowledged, killed = outcome(*in_child(work))
        check(path, acknowledged, thorough=step % 5 == 0)
        if not killed:
            assert acknowledged == 6
            break
        moments += 1
    assert moments >= 15


def test_killed_at_random_moments(target):
    chance = random.Random(7)
    cut = 0
    for moment in range(30):
        path = target.with_name(f"{moment}{target.suffix}")
        child, reader = in_child(lambda acknowledge, path=path: record(path, acknowledge, pause=0.004))
        time.sleep(chance.uniform(0, 0.05))
        os.kill(child, signal.SIGKILL)
        acknowledged, killed = outcome(child, reader)
        check(path, acknowledged, thorough=moment % 5 == 0)
        cut += killed and acknowledged < 6
    assert cut >= 5


def test_killed_while_replacing_another_recording(target):
    for step in range(1000):
        path = target.with_name(f"{step}{target.suffix}")
        with cvaudit.Recorder(path) as recorder:
            recorder.fold([1, 0], [0, 1], fold=0)
            recorder.fold([1, 0], [0, 1], fold="other")

        def work(acknowledge, path=path, step=step):
            die_at(step, half=True)
            record(path, overwrite=True)

        killed = outcome(*in_child(work))[1]
        found = read(path)
        if not found.missing:
            names = [cell.fold for cell in found.cells]
            assert names == (["0", "1", "2", "3"] if len(names) == 4 else ["0", "other"]), "never a mixture"
        if not killed:
            break
    assert step > 10 and not found.missing and len(found.cells) == 4


def test_a_worker_that_is_killed_while_writing_shows_although_the_recording_was_closed(target):
    with cvaudit.Recorder(target) as recorder:
        for number, (truth, predicted, score, test) in enumerate(FOLDS):

            def work(acknowledge, number=number, fold=(truth, predicted, score), test=test):
                if number == 2:
                    die_at(0, half=True)
                recorder.fold(*fold, test=test, fold=number)
                acknowledge()

            assert outcome(*in_child(work)) == ((0, True) if number == 2 else (1, False))
    found = read(target)
    assert [cell.fold for cell in found.predictions.cells] == ["0", "1", "3"]
    assert [(one.cell.fold, one.what) for one in found.missing] == [
        ("2", "its recording was cut off: the process was killed while writing")
    ]


def test_a_session_that_is_killed_is_not_made_good_by_others_that_only_append(target):
    def work(acknowledge):
        recorder = cvaudit.Recorder(target)
        recorder.fold(*FOLDS[0][:3], fold=0)
        acknowledge()
        time.sleep(30)

    child, reader = in_child(work)
    os.read(reader, 1)
    with cvaudit.Recorder(target, append=True) as other:
        other.fold(*FOLDS[1][:3], fold=1)
        os.kill(child, signal.SIGKILL)
        assert outcome(child, reader)[1]
    assert [cell.fold for cell in read(target).cells] == ["0", "1"] and read(target).missing
    cvaudit.Recorder(target, resume=True).close()
    assert not read(target).missing


def test_a_killed_recording_can_be_continued(target):
    def work(acknowledge):
        die_at(10 if target.suffix else 14, half=True)
        record(target, acknowledge)

    acknowledged, killed = outcome(*in_child(work))
    assert killed and 1 < acknowledged < 5
    before = read(target)
    assert before.missing
    with pytest.raises(cvaudit.InputError, match="holds an unfinished recording with"):
        cvaudit.Recorder(target)
    with cvaudit.Recorder(target, resume=True) as recorder:
        assert [recorder.has(number) for number in range(4)].count(True) == len(before.cells)
        for number, (truth, predicted, score, test) in enumerate(FOLDS):
            if not recorder.has(number):
                recorder.fold(truth, predicted, score, test=test, fold=number)
    after = read(target)
    assert not after.missing
    assert [cell.fold for cell in after.predictions.cells] == ["0", "1", "2", "3"]
