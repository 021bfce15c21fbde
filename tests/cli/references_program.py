"""A reference that answers wrongly: references_program.py HOW. It computes y = 2 x."""
import json, os, struct, sys

how = sys.argv[1]
answered = 0


def answer(**members):
    print(json.dumps(members), flush=True)


def write(folder, name, descr, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(os.path.join(folder, name + ".npy"), "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


for line in sys.stdin:
    question = json.loads(line)
    if question["ask"] == "begin":
        answer(reference="a program")
        continue
    case, folder = question["case"], question["folder"]
    with open(os.path.join(folder, "x.npy"), "rb") as file:
        data = file.read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    x = struct.unpack("<%df" % case["N"], data[start:])
    if how == "crash":
        os.abort()
    numbers = [float("nan") if how == "nan" else 2 * number for number in x]
    shape = "(%d, 1)" % case["N"] if how == "shape" else "(%d,)" % case["N"]
    if how == "float":
        write(folder, "y", "<f4", shape, struct.pack("<%df" % case["N"], *numbers))
    elif how == "short":
        write(folder, "y", "<f8", shape, struct.pack("<%dd" % (case["N"] - 1), *numbers[1:]))
    elif how != "nothing":
        write(folder, "y", "<f8", shape, struct.pack("<%dd" % case["N"], *numbers))
    answered += 1
    stale = how == "stale" and answered > 1
    if how == "text":
        print("computed", flush=True)
    line = json.dumps({"id": question["id"] - stale, "computed": True}) + "\n"
    sys.stdout.write(line * (2 if how == "twice" else 1))  # two answers arrive at once
    sys.stdout.flush()
