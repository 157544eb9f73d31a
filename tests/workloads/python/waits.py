"""Three threads that wait: time.sleep, queue.get and recv on a socket. Prints how many nanoseconds each took."""
import queue
import socket
import threading
import time

items = queue.Queue()
ours, theirs = socket.socketpair()
lines = []


def nap():
    time.sleep(0.9)


def fetch():
    items.get()


def receive():
    ours.recv(1)


def timed(function):
    start = time.monotonic_ns()
    function()
    lines.append("%s %d" % (function.__name__, time.monotonic_ns() - start))


waiting = [threading.Thread(target=timed, args=(function,)) for function in (nap, fetch, receive)]
for thread in waiting:
    thread.start()
time.sleep(0.3)
theirs.send(b"x")
time.sleep(0.3)
items.put(1)
for thread in waiting:
    thread.join()
print("\n".join(lines))
