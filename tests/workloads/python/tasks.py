"""usage: tasks.py SECONDS

Tasks of asyncio that compute: one with a name, awaited by another one through gather(), and one without a name.
"""

import asyncio
import sys
import time


def compute(seconds):
    x, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        x += sum(map(abs, range(1000)))
    return x


async def named(seconds):
    for _ in range(10):
        compute(seconds / 10)
        await asyncio.sleep(0)


async def unnamed(seconds):
    for _ in range(10):
        compute(seconds / 10)
        await asyncio.sleep(0)


async def parent(seconds):
    task = asyncio.create_task(named(seconds))
    if hasattr(task, "set_name"):
        task.set_name("the child")
    await asyncio.gather(task, asyncio.create_task(unnamed(seconds)))


async def main(seconds):
    task = asyncio.create_task(parent(seconds))
    if hasattr(task, "set_name"):
        task.set_name("the parent")
    await task


asyncio.run(main(float(sys.argv[1]) / 2))
