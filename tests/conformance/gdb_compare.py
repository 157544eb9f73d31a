"""Run by tests/conformance/gdb inside gdb, which is attached to a process: stops it STOPS times at random moments and
compares the stacks of its threads as gdb and as wick unwind them."""

import collections
import os
import random
import signal
import subprocess
import threading
import time

REGISTERS = "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
FRAMES_MOST = 1000
STOPS = int(os.environ["STOPS"])
UNWIND = os.environ["UNWIND"]


def stop_later(pid):
    time.sleep(random.uniform(0.01, 0.1))
    os.kill(pid, signal.SIGSTOP)


def frames_of_gdb():
    """Addresses of the frames, innermost first. Inlined functions and tail calls have no frame of their own."""
    found = []
    try:
        frame = gdb.newest_frame()
        while frame and len(found) < FRAMES_MOST:
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                found.append(frame.pc())
            frame = frame.older()
    except gdb.error:
        pass
    return found


def code_of(pid):
    """Ranges of executable memory: gdb also shows addresses in none, where it has lost its way."""
    found = []
    for line in open("/proc/%d/maps" % pid):
        addresses, permissions = line.split()[:2]
        if permissions[2] == "x":
            found.append([int(address, 16) for address in addresses.split("-")])
    return found


def sensible(stack, code):
    for i, address in enumerate(stack):
        if i and not any(start < address <= end for start, end in code):
            return stack[:i]
    return stack


def registers():
    frame = gdb.newest_frame()
    return " ".join("%x" % (int(frame.read_register(name)) & (2**64 - 1)) for name in REGISTERS)


def is_behind_call(address):
    """A return address is. What is not was taken for one, unless it is where a signal interrupted the code."""
    try:
        code = bytes(gdb.selected_inferior().read_memory(address - 8, 8))
    except gdb.error:
        return False
    return code[-5] == 0xE8 or any(code[-size] == 0xFF and code[1 - size] >> 3 & 7 == 2 for size in (2, 3, 4, 6, 7))


def name(address):
    try:
        text = gdb.execute("info symbol 0x%x" % (address - 1), to_string=True).split(" in section")[0].strip()
    except gdb.error:
        text = "?"
    return "%x %s%s" % (address, text[:70], "" if is_behind_call(address) else " (not behind a call)")


def kind_of(ours, theirs, complete):
    if ours == theirs:
        return "same" if complete else "same, but truncated"
    if len(theirs) > len(ours) and theirs[: len(ours)] == ours:
        return "complete, but gdb has more" if complete else "truncated, and gdb has more"
    if len(ours) > len(theirs) and ours[: len(theirs)] == theirs:
        return "complete, and gdb has less" if complete else "truncated, and gdb has less"
    return "complete, but different" if complete else "truncated and different"


def show(ours, theirs):
    common = 0
    while common < min(len(ours), len(theirs)) and ours[common] == theirs[common]:
        common += 1
    print("#   both: " + ("… " if common > 3 else "") + "; ".join(name(a) for a in ours[max(0, common - 3) : common]))
    print("#   wick: " + "; ".join(name(a) for a in ours[common : common + 3]))
    print("#   gdb:  " + "; ".join(name(a) for a in theirs[common : common + 3]))


def main():
    pid = gdb.selected_inferior().pid
    kinds = collections.Counter()
    shown = collections.Counter()
    for _ in range(STOPS):
        threading.Thread(target=stop_later, args=(pid,), daemon=True).start()
        try:
            gdb.execute("continue", to_string=True)
        except gdb.error:
            break
        if not gdb.selected_inferior().pid:
            break
        stacks, asked, code = [], [], code_of(pid)
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            stacks.append(sensible(frames_of_gdb(), code))
            asked.append(registers())
        answers = subprocess.run([UNWIND, str(pid)], input="\n".join(asked), capture_output=True, text=True).stdout
        for theirs, answer in zip(stacks, answers.splitlines()):
            end, *ours = answer.split()
            ours = [int(address, 16) for address in ours][:FRAMES_MOST]
            kind = kind_of(ours, theirs, end == "0")
            kinds[kind] += 1
            shown[kind] += 1
            if not kind.startswith("same") and shown[kind] <= int(os.environ.get("SHOW", "2")):
                print("# " + kind + (" (end %s)" % end if end != "0" else ""))
                show(ours, theirs)
    print("%s: %d stacks: %s" % (os.environ["NAME"], sum(kinds.values()),
                                 ", ".join("%d %s" % (n, kind) for kind, n in kinds.most_common())))


main()
