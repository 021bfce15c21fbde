#!/usr/bin/env python3
"""Verbs on mutated run folders, exported kernels, templates and configs: bytes, values, links, FIFOs, huge and missing
files, odd names. Each verb ends within a time limit with a documented status, and without a fault of evotile's own; it
prints nothing that a terminal obeys, writes nothing outside the folders that it was given, and one that only reads
leaves these as they were.

    mutated.py EVOTILE WHOLE COUNT     WHOLE holds run, recorded, frozen, template and c.json, all of them undamaged

A case is a function of its number: CASE=N runs only that one and shows its output. With LONG_STATE=FOLDER the cases that
passed are noted there, and a later call with the same program leaves them out.
"""
import concurrent.futures, hashlib, os, random, re, shutil, socket, sqlite3, stat, subprocess, sys, tempfile, threading

EVOTILE, WHOLE, COUNT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
JOBS = int(os.environ.get("JOBS") or os.cpu_count())
SECONDS = int(os.environ.get("CASE_SECONDS") or 120)  # on a busy machine under the sanitizers
READING, COMPILING = 10, 1  # weights
LOCAL = ["--templates", "."]
VERBS = [  # weight, what is mutated, words; those that write name `out` or the folder itself
    (READING, "run", ["board", "run"]), (READING, "run", ["board", "run", "--all", "--csv"]),
    (READING, "run", ["summary", "run"]), (READING, "run", ["board", "run", "--json"]), (COMPILING, "run", ["ablate", "run"]),
    (READING, "run", ["report", "run", "--out", "out/page.html"]),
    (READING, "run", ["watch", "run", "--once"]), (READING, "run", ["fsck", "run"]),
    (READING, "run", ["fsck", "run", "--salvage", "out/saved"]),
    (READING, "recorded", ["board", "recorded"]), (READING, "recorded", ["resume", "recorded", "--trials", "21"]),
    (COMPILING, "run", ["replay", "run"]), (COMPILING, "run", ["export", "run", "--out", "out/frozen"]),
    (COMPILING, "run", ["resume", "run", "--trials", "4"]), (COMPILING, "run", ["duel", "run", "run"]),
    (2 * COMPILING, "frozen", ["replay", "frozen"]), (2 * COMPILING, "frozen", ["gate", "frozen", "--against", "frozen"]),
    (READING, "template", ["space", "c.json", *LOCAL]), (READING, "c.json", ["space", "c.json", *LOCAL]),
    (COMPILING, "template", ["try", "c.json", *LOCAL]), (COMPILING, "template", ["try", "c.json", "--diagnose", *LOCAL]),
    (COMPILING, "template", ["run", "c.json", "--trials", "1", "--out", "out/run", *LOCAL]),
    (COMPILING, "c.json", ["run", "c.json", "--trials", "1", "--out", "out/run", *LOCAL])]
WRITING = {"resume", "ablate"}  # they change the folder that they are given
VALUES = ["NULL", "'word'", "-1", "x'00'", "1e300", "1000000000", "''", "'\x1b[2J\x07'", "9223372036854775807"]
WORDS = [b"-1", b"0", b"1e999", b"9223372036854775807", b"null", b"true", b"[]", b"{}", b'""', b'"../outside/secret"',
         b'"/dev/zero"', b'"\\u001b[2J"', b'"--create-pch=/tmp/x"', b'"x\\ny"', b"1e308", b"4294967296"]


# ---- mutations ----

def change_bytes(draw, path):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    for _ in range(draw.randint(1, 8)):
        at = draw.randint(0, len(data))
        kind = draw.randrange(5)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            data[at:at + draw.randrange(9)] = draw.randbytes(draw.randrange(9))
        elif kind == 2:
            data[at:at + draw.randrange(200)] = b""
        elif kind == 3:
            data[at:at] = draw.choice(WORDS)
        else:
            numbers = list(re.finditer(rb'-?\d+(\.\d+)?|"[^"]*"', data))
            if numbers:
                chosen = draw.choice(numbers)
                data[chosen.start():chosen.end()] = draw.choice(WORDS)
    with open(path, "wb") as file:
        file.write(data)


def change_row(draw, path):
    """One value of one row, in a table without constraints."""
    database = sqlite3.connect(path)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    table = draw.choice(tables)
    column = draw.choice([row[1] for row in database.execute(f"PRAGMA table_info({table})")])
    database.executescript(f"CREATE TABLE plain AS SELECT * FROM {table}; DROP TABLE {table}; "
                           f"ALTER TABLE plain RENAME TO {table}; "
                           f"UPDATE {table} SET {column} = {draw.choice(VALUES)} WHERE rowid = "
                           f"(SELECT rowid FROM {table} ORDER BY {draw.choice(['rowid', 'rowid DESC'])} LIMIT 1)")
    database.close()


def truncate(draw, path):
    os.truncate(path, draw.randint(0, os.path.getsize(path)))


def replace(draw, path):
    """By something that is no regular file, or by none that can be read whole."""
    os.remove(path)
    kind = draw.choice(["none", "folder", "fifo", "socket", "huge", "secret", "new", "loop", "/dev/zero", "/etc/passwd"])
    if kind == "folder":
        os.mkdir(path)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket" and len(path) < 100:
        socket.socket(socket.AF_UNIX).bind(path)
    elif kind == "huge":
        with open(path, "wb") as file:
            file.truncate(1 << 40)
    elif kind in ("secret", "new"):  # the second does not exist: a write would create it
        os.symlink(os.path.join(path.split("/given/")[0], "outside", kind), path)
    elif kind == "loop":
        os.symlink(os.path.basename(path), path)
    elif kind[0] == "/":
        os.symlink(kind, path)
    return kind


def rename(draw, path):
    name = draw.choice(["\x1b[2J", "a\nb", "x" * 255, " ", "-o", "%s%n", "\udcff", "..."])
    os.rename(path, os.path.join(os.path.dirname(path), name))
    return ascii(name)


def copy_over(draw, path):
    """Another file of the same folder takes its place."""
    others = [name for name in regular_files(os.path.dirname(path)) if name != path]
    if others:
        shutil.copyfile(draw.choice(others), path)


def regular_files(target):
    """Those that fit in memory; of a file itself."""
    paths = [target] + [os.path.join(parent, name) for parent, _, names in os.walk(target) for name in names]
    infos = [(path, os.lstat(path)) for path in paths]
    return sorted(path for path, info in infos if stat.S_ISREG(info.st_mode) and info.st_size < 1 << 24)


def mutate(draw, target):
    """Returns what was done, in words."""
    done = []
    for _ in range(draw.choice([1, 1, 2, 3])):
        files = regular_files(target) if os.path.lexists(target) else []
        if not files:
            break
        databases = [path for path in files if path.endswith(".db")]
        path = draw.choice(databases if databases and draw.random() < 0.4 else files)
        change = draw.choice([change_bytes, change_bytes, change_bytes, truncate, replace, replace, rename, copy_over])
        if path in databases and change is change_bytes and draw.random() < 0.7:
            change = change_row
        try:
            more = change(draw, path)
        except (sqlite3.DatabaseError, IndexError, OSError):  # an earlier mutation damaged it
            more = "failed"
        done.append(f"{change.__name__} {os.path.relpath(path, target)} {more or ''}".strip())
    return ", ".join(done)


# ---- one case ----

def picture(folder):
    """What is in a folder, links not followed."""
    found = {}
    for parent, folders, names in os.walk(folder):
        for name in folders + names:
            path = os.path.join(parent, name)
            info = os.lstat(path)
            content = stat.S_IFMT(info.st_mode), info.st_size if stat.S_ISREG(info.st_mode) else 0
            if stat.S_ISREG(info.st_mode) and info.st_size < 1 << 24:
                with open(path, "rb") as file:
                    content += (hashlib.md5(file.read()).hexdigest(),)
            if not name.endswith(("-wal", "-shm")):
                found[os.path.relpath(path, folder)] = content
    return found


def compare(before, after, may_add=False):
    changed = [name for name in before if before[name] != after.get(name)]
    return changed + ([] if may_add else [name for name in after if name not in before])


def run_case(number, shown=False, whole=None):
    """Returns None, or what was wrong. `whole`, an entry of VERBS, runs on folders without damage."""
    draw = random.Random(number)
    _, target, words = whole or draw.choices(VERBS, [weight for weight, _, _ in VERBS])[0]
    arena = tempfile.mkdtemp(prefix="m", dir=SCRATCH)
    try:
        given = os.path.join(arena, "given")
        os.mkdir(given)
        for name in {"run": ["run"], "recorded": ["recorded"], "frozen": ["frozen"]}.get(target, ["template", "c.json"]):
            source = os.path.join(WHOLE, name)
            (shutil.copytree if os.path.isdir(source) else shutil.copyfile)(source, os.path.join(given, name))
        for name in ("outside", "home", "tmp", "given/out"):
            os.mkdir(os.path.join(arena, name))
        with open(os.path.join(arena, "outside", "secret"), "w") as file:
            file.write("{}\n")
        what = "nothing" if whole else mutate(draw, os.path.join(given, target))
        before, folder = picture(given), picture(os.path.join(arena, "outside"))
        environment = dict(os.environ, HOME=arena + "/home", TMPDIR=arena + "/tmp", XDG_CACHE_HOME=arena + "/home/.cache",
                           EVOTILE_CACHE=SCRATCH + "/cache", ASAN_OPTIONS="detect_leaks=0")
        with open(arena + "/printed", "wb") as printed:
            process = subprocess.Popen([EVOTILE, *words], cwd=given, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=printed, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                status = process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                status = process.wait() and f"none after {SECONDS} s"
        with open(arena + "/printed", "rb") as file:
            printed = file.read(1 << 22)
        after = {name: content for name, content in picture(given).items() if not name.startswith("out/")}
        faults = []
        if status not in ((0,) if whole else (0, 1, 2, 3)):
            faults.append(f"status {status}")
        faults += [word for word in ("BUG", "Sanitizer", "runtime error") if word.encode() in printed]
        if re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", printed):
            faults.append("a control character in what it printed")
        outside = compare(folder, picture(arena + "/outside"))
        if outside:
            faults.append(f"wrote outside: {outside}")
        left = [name for name in os.listdir(arena + "/tmp")] + [name for name in os.listdir(arena + "/home") if name != ".cache"]
        if left and status in (0, 1, 2, 3):
            faults.append(f"left behind: {left}")
        changed = compare(before, after)
        if changed and words[0] not in WRITING:
            faults.append(f"changed what it was given: {changed}")
        if shown:
            print(printed.decode(errors="replace"))
        if faults:
            return (f"CASE={number}: {'; '.join(faults)}\n  evotile {' '.join(words)}: {what}\n"
                    + "".join(f"  | {ascii(line)[1:-1][:300]}\n" for line in printed.decode(errors="replace").splitlines()[-6:]))
        return None
    finally:
        shutil.rmtree(arena, ignore_errors=True)


# ---- all cases ----

def open_state():
    """Returns the numbers of the cases that passed with this program, and the file to note others in."""
    folder = os.environ.get("LONG_STATE")
    if not folder:
        return set(), open(os.devnull, "w")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "mutated")
    with open(EVOTILE, "rb") as program, open(sys.argv[0], "rb") as script:
        identity = hashlib.md5(program.read() + script.read()).hexdigest()
    lines = open(path).read().splitlines() if os.path.exists(path) else []
    if not lines or lines[0] != identity:
        lines = [identity]
        with open(path, "w") as file:
            file.write(identity + "\n")
    return {int(line) for line in lines[1:] if line.isdigit()}, open(path, "a", buffering=1)


SCRATCH = tempfile.mkdtemp()
try:
    if os.environ.get("CASE"):
        sys.exit(run_case(int(os.environ["CASE"]), True))
    for verb in VERBS if COUNT >= 1000 else []:  # each is a verb that works, so that a refusal is the damage's
        if run_case(0, False, verb):
            sys.exit(run_case(0, True, verb))
    passed, state = open_state()
    wrong, lock = [], threading.Lock()

    def job(number):
        fault = run_case(number)
        with lock:
            if fault:
                wrong.append(fault)
                print(fault, flush=True)
            else:
                state.write(f"{number}\n")

    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(job, [number for number in range(COUNT) if number not in passed]))
    print(f"{COUNT} verbs on mutated folders, {len(wrong)} of them wrong")
    sys.exit(1 if wrong else 0)
finally:
    shutil.rmtree(SCRATCH, ignore_errors=True)
