"""A Python that forks children, executes others and ends itself by exec, all of them computing in known functions."""
import os
import subprocess
import sys
import time


def compute(seconds):
    end = time.thread_time() + seconds
    total = 0
    while time.thread_time() < end:
        for i in range(1000):
            total += i
    return total


def forked():
    compute(0.05)
    os._exit(0)


def executed():
    compute(0.05)


def last():
    compute(0.2)


if sys.argv[1:] == ["executed"]:
    executed()
elif sys.argv[1:] == ["last"]:
    last()
else:
    for _ in range(8):
        child = os.fork()
        if child == 0:
            forked()
        subprocess.run([sys.executable, __file__, "executed"], check=True)
        os.waitpid(child, 0)
    os.execv(sys.executable, [sys.executable, __file__, "last"])
