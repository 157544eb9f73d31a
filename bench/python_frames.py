"""usage: python_frames.py SECONDS CALLS: computes below so many calls of Python functions that C makes."""
import sys
import time


def spin(end):
    total = 0
    while time.process_time() < end:
        for i in range(10000):
            total += i
    return total


def descend(n, end):
    if n == 0:
        return spin(end)
    return max((n - 1,), key=lambda m: descend(m, end))


def main():
    descend(int(sys.argv[2]), float(sys.argv[1]))


main()
