#!/usr/bin/env python3
"""A batch job in Python with six kinds of work. `app.py --fixed` has the faster versions of two of them."""
import json
import os
import sys
import tempfile
import time

FIXED = "--fixed" in sys.argv
SECONDS = float(os.environ.get("APP_SECONDS", "6"))


def fibonacci(n):
    """Recursion: a tower as high as the calls are deep."""
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def multiply(a, b):
    """Matrix: a loop in a loop in a loop, one wide plateau."""
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def is_prime(n):
    for divisor in range(2, n):
        if n % divisor == 0:
            return False
    return n > 1


def primes(limit):
    """Primes: every number is divided by all smaller ones, or crossed out in a sieve."""
    if not FIXED:
        return [n for n in range(limit) if is_prime(n)]
    prime = bytearray([1]) * limit
    prime[:2] = b"\0\0"
    for n in range(2, int(limit**0.5) + 1):
        if prime[n]:
            prime[n * n::n] = bytes(len(range(n * n, limit, n)))
    return [n for n in range(limit) if prime[n]]


def build_page(rows):
    """Strings: a text that grows at its beginning is copied each time."""
    if FIXED:
        return "\n".join(f"row {i}: {i * i}" for i in reversed(range(rows)))
    text = ""
    for i in range(rows):
        text = f"row {i}: {i * i}\n" + text
    return text


def convert(count):
    """JSON: the work is in C, called by one line of Python."""
    orders = [{"id": i, "items": [{"sku": f"A{j}", "price": j * 0.99} for j in range(8)]} for i in range(count)]
    return json.loads(json.dumps(orders))


def write_log(lines):
    """Files: what is written reaches the disk before it goes on, so it waits and uses little CPU time."""
    with tempfile.NamedTemporaryFile("w", dir=os.environ.get("TMPDIR", "/var/tmp")) as log:
        for i in range(lines):
            log.write(f"{time.time()} order {i} accepted\n")
            if i % 50 == 0:
                log.flush()
                os.fsync(log.fileno())


def run_once():
    square = [[i * j % 7 for j in range(40)] for i in range(40)]
    fibonacci(22)
    multiply(square, square)
    primes(2500)
    build_page(4000)
    convert(400)
    write_log(200)


def main():
    end = time.monotonic() + SECONDS
    rounds = 0
    while time.monotonic() < end:
        run_once()
        rounds += 1
    print(f"{rounds} rounds in {SECONDS:.0f} s: {rounds / SECONDS:.1f} per second")


main()
