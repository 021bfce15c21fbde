#!/usr/bin/env python3
"""Verbs on runs whose run.db is damaged: no verb crashes, hangs or reports a bug of evotile, and what it says about the
damage is one line. tests/store/damage_test.c reads every column with every kind of damage; here each column is read by
one verb, or with EVOTILE_LONG=1 by all.

    damaged.py EVOTILE RECORDED_RUN COMPILED_RUN
"""
import itertools, os, shutil, sqlite3, subprocess, sys

EVOTILE, RECORDED, COMPILED = sys.argv[1:]
LONG = os.environ.get("EVOTILE_LONG") == "1"
VALUES = ["NULL", "'word'", "-1", "x'00'", "1e300", "1000000000"]
READERS = [["board"], ["summary"], ["report", "--out", "page.html"], ["watch", "--once"], ["board", "--all", "--csv"],
           ["resume", "--trials", "21"]]
BUILDERS = [["replay"], ["export", "--out", "frozen"]]


def tables(database):
    rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return [name for (name,) in rows]


def without_constraints(run):
    """Rebuilds the tables, so that each column takes any value."""
    with sqlite3.connect(f"{run}/run.db") as database:
        for name in tables(database):
            database.executescript(f"CREATE TABLE plain AS SELECT * FROM {name}; DROP TABLE {name}; "
                                   f"ALTER TABLE plain RENAME TO {name}")


def check(verb, run, what):
    """Runs a verb on a damaged copy and returns whether it failed."""
    shutil.rmtree("frozen", ignore_errors=True)
    done = subprocess.run([EVOTILE, verb[0], run, *verb[1:]], capture_output=True, text=True, errors="replace", timeout=120)
    errors = [line for line in done.stderr.splitlines() if "damaged" in line and "warning" not in line]
    wrong = None
    if done.returncode not in (0, 1, 2, 3):
        wrong = f"status {done.returncode}"
    elif "BUG" in done.stderr or "Sanitizer" in done.stderr:
        wrong = "a bug"
    elif len(errors) > 1:
        wrong = "more than one line"
    if wrong:
        sys.exit(f"{wrong}: {' '.join(verb)}, {what}\n{done.stderr[-3000:]}")
    return done.returncode != 0


def damage(run, sql):
    shutil.rmtree("copy", ignore_errors=True)
    shutil.copytree(run, "copy")
    with sqlite3.connect("copy/run.db") as database:
        database.execute(sql)
    database.close()


def damages(run):
    """Yields SQL that sets one value of one row in each column of each table."""
    with sqlite3.connect(f"{run}/run.db") as database:
        for table in tables(database):
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            for column, value in itertools.product(columns, VALUES):
                row = f"(SELECT rowid FROM {table} LIMIT 1 OFFSET (SELECT count(*) / 3 FROM {table}))"
                yield f"UPDATE {table} SET {column} = {value} WHERE rowid = {row}"


for run in (RECORDED, COMPILED):
    without_constraints(run)
for verb in READERS:
    assert not check(verb, RECORDED if verb[0] != "resume" else shutil.copytree(RECORDED, "resumed"), "whole run")

failed = count = 0
for number, sql in enumerate(damages(RECORDED)):
    # 6 values and 6 verbs: a third of the pairs, shifted by the column.
    chosen = READERS if LONG else [READERS[(number // 3 + number // 18) % 6]] if number % 3 == 1 else []
    for verb in chosen:
        damage(RECORDED, sql)
        failed += check(verb, "copy", sql)
        count += 1
step = 1 if LONG else 41
for number, sql in enumerate(damages(COMPILED)):
    if number % step == 0:
        damage(COMPILED, sql)
        failed += check(BUILDERS[number // step % 2], "copy", sql)
        count += 1
# More goals than the config has.
for run, verbs in ((RECORDED, READERS), (COMPILED, BUILDERS)):
    damage(run, "INSERT INTO goals VALUES (1, 'another')")
    with sqlite3.connect("copy/run.db") as database:
        database.execute("UPDATE trials SET goal = 1 WHERE number = (SELECT trial FROM champions LIMIT 1)")
        database.execute("UPDATE champions SET goal = 1 WHERE rowid = (SELECT rowid FROM champions LIMIT 1)")
    database.close()
    for verb in verbs:
        failed += check(verb, "copy", "another goal")
        count += 1
with open(f"{RECORDED}/run.db", "rb") as file:
    whole = file.read()
for size in range(0, len(whole), len(whole) // (40 if LONG else 8)):
    damage(RECORDED, "SELECT 1")
    with open("copy/run.db", "wb") as file:
        file.write(whole[:size])
    for verb in READERS:
        assert check(verb, "copy", f"the first {size} bytes") or size == 0, (verb, size)
        count += 1
print(f"{count} verbs on damaged runs, {failed} of them failed with a message")
assert failed > count / 6
