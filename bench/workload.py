"""A Python program to record: parse, rewrite and dump source text."""
import ast
import json
import re
import sys
import time

end = time.monotonic() + float(sys.argv[1])
source = "".join(open(module.__file__, encoding="utf-8").read()
                 for module in (ast, json, re))
while time.monotonic() < end:
    tree = ast.parse(source)
    text = ast.dump(tree)
    swapped = re.sub(r"(\w+)\((\w*)", r"\2<\1", text)
    words = json.loads(json.dumps(swapped.split(","), indent=1))
    sorted(words, key=lambda word: (len(word), word))
