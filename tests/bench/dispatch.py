#!/usr/bin/env python3
"""How long an exported launcher takes to choose a kernel, in nanoseconds a call, on this CPU.

    tests/bench/dispatch.py KERNEL_DIR [--check] [--calls N]

The folder's own C is compiled, and asked for the shapes of the manifest's "dispatch" (else its cases) in an order
that no branch predictor knows. `leaf_of` is the decision tree alone; `choose` finds the variant, with the checks that
it supports the shape. --check only prints whether the C chooses as the manifest's tree says.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

PROGRAM = """
#include "%(name)s.c"
#include <stdio.h>
#include <time.h>
static const struct %(name)s_shape shapes[] = {
%(shapes)s
};
static const unsigned short order[] = {%(order)s};
enum { SHAPES = sizeof shapes / sizeof *shapes, ORDER = sizeof order / sizeof *order };
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}
#define MEASURE(what, call)                                                                     \\
    do {                                                                                        \\
        double least = 1e30;                                                                    \\
        for (int round = 0; round < 5; round++) {                                               \\
            double start = now();                                                               \\
            for (long i = 0; i < calls; i++) {                                                  \\
                const struct %(name)s_shape *shape = &shapes[order[i %% ORDER]];                \\
                sum += (long)(call);                                                            \\
            }                                                                                   \\
            double took = (now() - start) / calls;                                              \\
            least = took < least ? took : least;                                                \\
        }                                                                                       \\
        printf("%%-8s %%6.1f ns\\n", what, least);                                              \\
    } while (0)
int main(int argc, char **argv)
{
    const long calls = atol(argv[1]);
    volatile long sum = 0;
    (void)argc;
    for (int i = 0; i < SHAPES; i++) {
        const struct unit *unit = choose(&shapes[i]);
        fprintf(stderr, "%%ld\\n", unit != NULL ? (long)(unit - units) : -1L);
    }
    if (calls == 0)
        return 0;
    %(leaf)s
    MEASURE("choose", choose(shape) != NULL);
    return 0;
}
"""


def leaf(node, shape):
    """The order of kernels that the manifest's tree has for a shape."""
    while "if" in node:
        value = 1
        for name in node["if"].split(" * "):
            value *= int(shape[name])
        node = node["then"] if value <= int(node["at_most"]) else node["else"]
    return node["order"]


def expected(manifest, one, shape):
    """The variant that the tree chooses: the first of its order that was timed there."""
    return next((unit for unit in leaf(manifest["dispatch"]["choice"]["tree"], shape) if one["us"][unit]), -1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--calls", type=int, default=2000000)
    arguments = parser.parse_args()
    with open(os.path.join(arguments.folder, "manifest.json")) as file:
        manifest = json.load(file)
    rows = manifest.get("dispatch", {}).get("shapes") or manifest["cases"]
    random.seed(1)
    by_tree = "dispatch" in manifest and len(manifest["units"]) > 1
    text = PROGRAM % {
        "name": manifest["name"],
        "shapes": "\n".join("    {" + ", ".join(str(value) for value in row["shape"].values()) + "}," for row in rows),
        "order": ", ".join(str(random.randrange(len(rows))) for _ in range(4096)),
        "leaf": 'MEASURE("leaf_of", leaf_of(shape));' if by_tree else "",
    }
    cuda = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    with tempfile.TemporaryDirectory() as scratch:
        source, program = os.path.join(scratch, "choose.c"), os.path.join(scratch, "choose")
        with open(source, "w") as file:
            file.write(text)
        # The machine code is not loaded, and nothing of CUDA is called.
        subprocess.run(["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", f"-I{cuda}/include",
                        f"-I{os.path.abspath(arguments.folder)}", f"-Wa,-I{os.path.abspath(arguments.folder)}", "-o",
                        program, source, "-Wl,--unresolved-symbols=ignore-all", "-no-pie"], check=True,
                       cwd=arguments.folder)
        run = subprocess.run([program, "0" if arguments.check else str(arguments.calls)], check=True,
                             capture_output=True, text=True)
    chosen = [int(line) for line in run.stderr.split()]
    if "dispatch" in manifest:
        wrong = [row["shape"] for row, unit in zip(rows, chosen) if unit != expected(manifest, row, row["shape"])]
        if wrong:
            sys.exit(f"the launcher does not choose as the manifest's tree: {wrong[0]}")
        print(f"{len(rows)} shapes get the variant that the manifest's tree names")
    if not arguments.check:
        print(run.stdout, end="")


main()
