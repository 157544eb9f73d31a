import sys
import time


def mix(value):
    return (value * 31 + 7) % 1000003


def work(end):
    value = 1
    while time.thread_time() < end:
        for _ in range(1000):
            value = mix(value)
    return value


work(int(sys.argv[1] if len(sys.argv) > 1 else 400) / 1000)
