"""usage: python_locks.py SECONDS

Two threads compute and hold the GIL meanwhile, and one computes in C without it. Prints the CPU seconds of each.
"""

import hashlib
import sys
import threading
import time

DATA = bytes(1 << 22)
spent = {}


def compute(end):
    x = 0
    while time.monotonic() < end:
        for i in range(20000):
            x += i * i


def digest(end):
    while time.monotonic() < end:
        hashlib.sha256(DATA)


def work(name, function, end):
    function(end)
    spent[name] = time.thread_time()


if __name__ == "__main__":
    end = time.monotonic() + float(sys.argv[1])
    threads = [
        threading.Thread(target=work, args=(name, function, end))
        for name, function in (("first", compute), ("second", compute), ("digest", digest))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, seconds in sorted(spent.items()):
        print(name, "%.6f" % seconds)
