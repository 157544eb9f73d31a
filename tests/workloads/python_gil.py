"""usage: python_gil.py SECONDS

Two threads compute, of which one can at a time.
"""

import sys
import threading
import time


def compute(end):
    x = 0
    while time.monotonic() < end:
        for i in range(20000):
            x += i * i
    return x


def first(end):
    compute(end)


def second(end):
    compute(end)


if __name__ == "__main__":
    end = time.monotonic() + float(sys.argv[1])
    threads = [threading.Thread(target=function, args=(end,)) for function in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
