"""usage: greenlets.py SECONDS

A greenlet computes that was started by another, on top of the stack of the main program.
"""

import sys
import time

import greenlet


def compute(end):
    x = 0
    while time.monotonic() < end:
        x += sum(map(abs, range(1000)))
    return x


def second(end):
    return compute(end)


def first(end):
    return greenlet.greenlet(second).switch(end)


def main():
    return greenlet.greenlet(first).switch(time.monotonic() + float(sys.argv[1]))


main()
