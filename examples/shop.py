"""A small shop, as something to profile: orders go into SQLite, come out as JSON, are searched, packed and hashed."""
import hashlib
import json
import random
import re
import sqlite3
import threading
import zlib

TAGS = ["new", "red", "blue", "sale", "old", "big"]


def make_orders(count, rng):
    return [(i, "item-%d" % rng.randrange(500), rng.random() * 100, json.dumps(rng.sample(TAGS, 3)))
            for i in range(count)]


def store(db, orders):
    db.execute("create table orders(id integer primary key, name text, price real, tags text)")
    db.executemany("insert into orders values(?,?,?,?)", orders)
    db.execute("create index by_name on orders(name)")


def report(db):
    return db.execute("select name, count(*), sum(price), group_concat(tags) from orders group by name "
                      "order by sum(price) desc").fetchall()


def search(rows):
    pattern = re.compile(r"(red|blue).{0,40}?(sale|old)")
    return sum(len(pattern.findall(row[3])) for row in rows)


def work(seed):
    rng = random.Random(seed)
    db = sqlite3.connect(":memory:")
    store(db, make_orders(30000, rng))
    rows = report(db)
    found = search(rows)
    packed = zlib.compress(json.dumps(rows).encode(), 9)
    digest = hashlib.sha256(packed * 400).hexdigest()
    print(found, len(packed), digest)


threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
