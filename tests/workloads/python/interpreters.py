"""usage: interpreters.py SECONDS

A thread computes in one more interpreter, called from the main one, which computes before.
"""

import sys
import threading
import time

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = """
import time
def inside(seconds):
    x, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        x += sum(map(abs, range(1000)))
def start(seconds):
    inside(seconds)
start(%r)
"""


def outside(seconds):
    x, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        x += sum(map(abs, range(1000)))


def other(seconds):
    interpreters.run_string(interpreters.create(), CODE % seconds)


def main(seconds):
    thread = threading.Thread(target=other, args=(seconds,))
    outside(seconds)
    thread.start()
    thread.join()


main(float(sys.argv[1]) / 2)
