/* table: the operators of mutate. */
#include "proposers/operators/operators.h"

const struct edit_operator mutation_operators[] = {
    {"vectorize", 8,
     "a counted loop by threads, or over 0, 1, 2 ..., reads or writes p[i] or p[... + i]",
     "vectorize: load and store VECTOR neighbouring elements by one instruction, up to 16 bytes, "
     "because "
     "narrow accesses need more instructions for the same bytes",
     apply_vectorize},
    {"keep_in_registers", 8, "two or more loops with the same header read the same elements",
     "keep_in_registers: keep the elements that several loops read in registers, because each "
     "further "
     "read waits for the cache again",
     apply_keep_in_registers},
    {"stage_in_shared", 3, "two or more loops with the same header read p[i]",
     "stage_in_shared: keep the row that several loops read in shared memory, because that is "
     "nearer "
     "than the second-level cache",
     apply_stage_in_shared},
    {"warp_shuffle", 8, "a tree in shared memory reduces one value a thread",
     "warp_shuffle: reduce within warps by shuffles and meet once in shared memory, because a tree "
     "waits "
     "at a barrier for each of its levels",
     apply_warp_shuffle},
    {"coarsen", 10, "a guarded index is made of blockIdx, and no barrier stands behind the guard",
     "coarsen: give each thread several elements along an axis, because they share loads and keep "
     "more "
     "independent arithmetic in flight",
     apply_coarsen},
    {"tile_in_shared", 10,
     "a loop over 0, 1, 2 ... stores nothing and reads p[... k ...] where a row or a column of the "
     "block has the same address",
     "tile_in_shared: let a block load tiles of what its threads read in a loop into shared "
     "memory, "
     "because neighbours read the same elements",
     apply_tile_in_shared},
    {"unroll", 4, "a counted loop has no pragma",
     "unroll: unroll a loop, because more of its loads are then in flight at once", apply_unroll},
    {"loop_order", 2, "two counted loops are nested without anything between them",
     "loop_order: exchange two nested loops, because the inner one should walk along memory",
     apply_loop_order},
    {"literal_to_gene", 3, "a constexpr int is a literal of 2 or more",
     "literal_to_gene: turn a size that is written as a number into a gene, because the best tile "
     "depends "
     "on the GPU",
     apply_literal_to_gene},
    {"read_only", 2, "a const pointer to numbers is read",
     "read_only: read by __ldg through the read-only path, because the compiler may not know that "
     "nothing "
     "writes there",
     apply_read_only},
    {"read_once", 2, "a const pointer to numbers is read",
     "read_once: read with __ldcs, because what is read once need not stay in the cache",
     apply_read_once},
    {"write_once", 2, "an output of numbers is written as a statement of its own",
     "write_once: write with __stcs, because the kernel does not read its output again and the "
     "inputs "
     "need the cache",
     apply_write_once},
    {"restrict", 4, "a pointer among the kernel's parameters lacks __restrict__",
     "restrict: promise that pointers do not overlap, because loads can then move before stores",
     apply_restrict},
    {"launch_bounds", 3, "the kernel has none, and its block is made of genes and numbers",
     "launch_bounds: tell the compiler the size of a block and how many must fit an SM, because it "
     "then "
     "chooses the registers for that occupancy",
     apply_launch_bounds},
    {"fast_functions", 5, "expf, logf, sinf, cosf, tanf or powf is called",
     "fast_functions: use the hardware's approximations, because the exact functions take many "
     "instructions and the error bound leaves room",
     apply_fast_functions},
    {"reciprocal_root", 4, "something is divided by sqrtf",
     "reciprocal_root: multiply by rsqrtf, because a root and a division take many instructions",
     apply_reciprocal_root},
    {"hoist_division", 6, "a loop divides by a float that does not change in it",
     "hoist_division: divide once before the loop and multiply in it, because a division takes "
     "many "
     "instructions for each element",
     apply_hoist_division},
    {"register_limit", 2, "no option limits the registers",
     "register_limit: limit the registers of a thread, because more warps may then hide the "
     "latency",
     apply_register_limit},
    {"load_cache", 2, "no option says how loads are cached",
     "load_cache: choose how global loads use the first-level cache", apply_load_cache},
    {"fast_math_option", 2, "no option says how float arithmetic is done",
     "fast_math_option: compile with fast float arithmetic, because the error bound leaves room",
     apply_fast_math_option},
    {"block_sizes", 2, "a gene of the block has powers of two alone, and no tree needs that",
     "block_sizes: try block sizes between the powers of two, because another number of warps may "
     "fill "
     "the SMs better",
     apply_block_sizes},
    {"larger_values", 2,
     "the values of a gene are doubled from one to the next, and it is no block's",
     "larger_values: allow twice the largest value of a gene, because the best may lie behind it",
     apply_larger_values},
    {NULL, 0, NULL, NULL, NULL},
};
