"""What libservice.so calls: Python, an extension in C, Python again, which computes in libc and in the kernel."""
import os
import time

import pricing

zero = os.open("/dev/zero", os.O_RDONLY)
block = bytearray(4 << 20)


def burn():
    pricing.sort()
    bytes(block)
    os.read(zero, 1 << 19)


def rule(_item):
    burn()


class Service:
    def price_all(self, count):
        pricing.walk(rule, count)


def handle(seconds):
    end = time.process_time() + seconds
    service = Service()
    while time.process_time() < end:
        service.price_all(10)
