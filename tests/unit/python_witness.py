# Describes itself, for test_python_live.c: code objects with the lines of their instructions, and the frames of its
# threads. Then it waits until its standard input ends. Fields are separated by tabs.
import _thread
import ctypes
import dis
import gc
import os
import sys
import threading
import types

for name in sys.argv[1:]:
    __import__(name)

sys.stdout.reconfigure(encoding="utf-8", errors="replace")
out = []
files = {}
for name, module in list(sys.modules.items()):
    if name != "__main__" and getattr(module, "__name__", None) == name and getattr(module, "__file__", None):
        files.setdefault(module.__file__, name)


def tell(*fields):
    out.append("\t".join(map(str, fields)))


def ranges(code):
    if hasattr(code, "co_lines"):
        return [(start, end, code.co_firstlineno if line is None else line) for start, end, line in code.co_lines()]
    starts = list(dis.findlinestarts(code))
    if not starts or starts[0][0]:
        starts.insert(0, (0, code.co_firstlineno))
    ends = [start for start, _ in starts[1:]] + [len(code.co_code)]
    return [(start, end, line) for (start, line), end in zip(starts, ends)]


# None where the file does not say which module it is.
def module_of(file):
    if file.startswith("<"):
        return file[len("<frozen "):-1] if file.startswith("<frozen ") else file
    return files.get(file)


def tell_code(code):
    qualname = getattr(code, "co_qualname", code.co_name)
    module = module_of(code.co_filename)
    if module is not None:
        lines = ",".join("%d-%d:%d" % one for one in ranges(code))
        tell("code", "%x" % id(code), code.co_firstlineno, code.co_filename, module + "." + qualname, lines)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            tell_code(const)


# A function whose names are not ASCII, and whose instructions are far apart and go back.
namespace = {}
exec("def f():\n" + "\n" * 300 + " return [g(x,\n" + "\n" * 200 + "y) for x in h]\nf2 = lambda: (\n f(),\n f(\n))\n", namespace)
for name in "gr\u00fc\u00dfe", "\u03b1\u03b2\u03b3", "\U0002000b\U0002000c":
    exec("def %s(): return 1" % name, namespace)
seen = set()
for function in gc.get_objects():
    if isinstance(function, types.FunctionType) and function.__code__ not in seen:
        seen.add(function.__code__)
        tell_code(function.__code__)
        if len(seen) >= 6000:
            break
# What is alive only as an object of this program must stay where it is.
kept = list(seen)


def tell_frames(tid, frame, entries):
    tell("thread", tid)
    for number, entry in zip(range(1000), entries):
        if frame is None:
            break
        # The innermost frame has moved on before the memory is read, but not to another line.
        lasti = frame.f_lasti if number else -1
        tell("frame", "%x" % id(frame.f_code), lasti, frame.f_lineno, entry)
        frame = frame.f_back


ready, gate, tids = _thread.allocate_lock(), _thread.allocate_lock(), []
ready.acquire()
gate.acquire()


def work():
    tids.append(threading.get_native_id())
    ready.release(); gate.acquire()


def finish():
    tell_frames(threading.get_native_id(), sys._getframe(1), FROM_NATIVE)
    tell("end")
    print("\n".join(out), flush=True)


# finish() returns to `inner`, which waits in the same line.
def inner():
    finish(); os.read(0, 1)


# The comprehension has a frame up to 3.11.
def middle(_):
    [inner() for _ in range(1)]


def generator():
    yield list(map(middle, [0]))


def outer():
    next(generator())


# inner, the comprehension, middle (called by map), generator (by next), outer, <module>
FROM_NATIVE = [0, 0, 1, 1, 0, 1]
if sys.version_info < (3, 11):
    FROM_NATIVE = [1] * 6
elif sys.version_info >= (3, 12):
    del FROM_NATIVE[1]
thread = threading.Thread(target=work, daemon=True)
thread.start()
ready.acquire()
tell("version", "%x" % (sys.hexversion >> 16))
tell("runtime", "%x" % ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime")))
tell_frames(tids[0], sys._current_frames()[thread.ident], [-1] * 100)
outer()
os._exit(0)
