"""usage: shares.py SECONDS [wait]

Calls unit() in six ways, for SECONDS of CPU time in total, and spends time on four lines of lines(). Measures the CPU
time of each and prints it: "function NAME SECONDS", "line NUMBER SECONDS". With wait it prints "ready", waits for a
line on standard input before it starts, and for another one before it ends.
"""
import ctypes
import sys
from concurrent.futures import ThreadPoolExecutor
from time import thread_time as now

libc = ctypes.CDLL(None)
compare_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


def unit():
    total = 0
    for i in range(1500):
        total += i * i % 7
    return total


def recursion(depth, count):
    if depth:
        recursion(depth - 1, count)
    else:
        for _ in range(count):
            unit()


def generator(count):
    for _ in range(count):
        yield unit()


def generate(count):
    sum(generator(count // 2))
    for _ in generator(count - count // 2):
        pass


def comprehension(count):
    return [unit() for _ in range(count)]


class Worker:
    def method(self, count):
        for _ in range(count):
            unit()


def task(count):
    start = now()
    for _ in range(count):
        unit()
    return now() - start


def threads(pool, count):
    return sum(pool.map(task, [count - count // 2, count // 2]))


def compare(_a, _b):
    unit()
    return 0


def callback(count):
    numbers = (ctypes.c_int * count)()
    libc.qsort(ctypes.byref(numbers), count, ctypes.sizeof(ctypes.c_int), compare_type(compare))


def lines(spent):
    t0 = now()
    i = 0
    while i < 9000: i += 1  # line: nothing but bytecode
    t1 = now()
    sum(range(60000))  # line: nothing but C
    t2 = now()
    sorted(range(9000), key=lambda x: -x)  # line: C that calls Python
    t3 = now()
    unit(); unit(); unit(); unit()  # line: calls of Python
    t4 = now()
    for i, seconds in enumerate((t1 - t0, t2 - t1, t3 - t2, t4 - t3)):
        spent[i] += seconds


def main(seconds, wait):
    pool = ThreadPoolExecutor(2)
    worker = Worker()
    ways = {
        "recursion": lambda: recursion(10, 3),
        "generate": lambda: generate(4),
        "comprehension": lambda: comprehension(5),
        "method": lambda: worker.method(6),
        "threads": lambda: threads(pool, 7),
        "callback": lambda: callback(4),
    }
    if wait:
        print("ready", flush=True)
        sys.stdin.readline()
    spent = dict.fromkeys(ways, 0)
    by_line = [0] * 4
    while sum(spent.values()) < seconds:
        for name, way in ways.items():
            start = now()
            others = way()  # CPU time of other threads
            spent[name] += now() - start + (others if name == "threads" else 0)
        lines(by_line)
    with open(__file__, encoding="utf-8") as source:
        numbers = [number for number, line in enumerate(source, 1) if "  # line: " in line]
    for name in ways:
        print("function", name, spent[name])
    for number, seconds in zip(numbers, by_line):
        print("line", number, seconds)
    sys.stdout.flush()
    if wait:
        sys.stdin.readline()


main(float(sys.argv[1]), "wait" in sys.argv[2:])
