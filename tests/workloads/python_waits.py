"""usage: python_waits.py SECONDS READY

A thread for each way to wait, most of which wait all the time (`in_…`), and some again and again (`again_…`). The file
READY is created when they do.
"""

import asyncio
import os
import queue
import select
import socket
import subprocess
import sys
import threading
import time

FOREVER = 1000
SHORT = 0.02
items = queue.Queue()
one, other = socket.socketpair()
lock = threading.Lock()
condition = threading.Condition()
child = None


def in_sleep():
    time.sleep(FOREVER)


def in_queue():
    items.get()


def in_socket():
    one.recv(1)


def in_lock():
    lock.acquire()


def in_condition():
    with condition:
        condition.wait(FOREVER)


def in_child():
    child.wait()


def in_select():
    select.select([one], [], [], FOREVER)


def in_asyncio():
    asyncio.new_event_loop().run_until_complete(asyncio.sleep(FOREVER))


def again_sleep():
    while True:
        time.sleep(SHORT)


def again_queue():
    while True:
        try:
            items.get(timeout=SHORT)
        except queue.Empty:
            pass


def again_lock():
    while True:
        lock.acquire(timeout=SHORT)


def wait_for_all(seconds):
    time.sleep(seconds)


if __name__ == "__main__":
    child = subprocess.Popen(["sleep", str(FOREVER)])
    lock.acquire()
    for function in list(globals().values()):
        if getattr(function, "__name__", "").startswith(("in_", "again_")):
            threading.Thread(target=function, daemon=True).start()
    time.sleep(0.5)
    open(sys.argv[2], "w").close()
    wait_for_all(float(sys.argv[1]))
    child.kill()
    os._exit(0)
