"""usage: python_work.py UNITS: the same work every time, in Python and in C; prints its CPU and wall time."""
import json
import re
import sys
import time


def tokens(text):
    return [match.group() for match in re.finditer(r"\w+|[^\w\s]", text)]


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def sieve(n):
    numbers = bytearray([1]) * n
    for i in range(2, int(n**0.5) + 1):
        if numbers[i]:
            for j in range(i * i, n, i):
                numbers[j] = 0
    return sum(numbers)


def unit(text):
    words = {}
    for token in tokens(text):
        words[token] = words.get(token, 0) + 1
    fibonacci(14)
    sieve(3000)
    return len(json.loads(json.dumps(sorted(words.items(), key=lambda item: -item[1]))))


def main(units):
    text = " ".join("word%d, number %d;" % (i * i % 97, i) for i in range(300))
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(units):
        unit(text)
    print(time.process_time() - cpu, time.perf_counter() - wall)


main(int(sys.argv[1]))
