/*
 * table: every form of an instruction that is compared between devices (forms.h), as rows of
 * patterns: {a,b} stands for a and for b; what follows a bar is $x, with commas for semicolons.
 *
 *     {"add{,.rn,.rz}.{f32,f64}", "t = t t", 0},
 *
 * The second column has the results and operands, each a group of registers: [count]TYPE[~KIND],
 * where d is the first type that the opcode names, t the last, and KIND what its random numbers are
 * (operands.h). The third is the bound: 0 is bit for bit (but for the payloads of NaNs), else units
 * of the last place that a result may be off, where PTX leaves it open. `body` is for what is not
 * just `opcode results, operands`: $f the opcode; $d $q $v the groups of results, $a $b $c $e $g
 * those of operands; $u the last type; $n $m addresses of the thread's operands and of its own 16
 * bytes of global memory, $s of 16 bytes of shared memory, $z of memory that nothing reads; $w b16,
 * b32 or b64, as wide as t. `least`: a result below it is measured with it. `cluster`: of so many
 * blocks (0: none).
 */
#ifndef EVOTILE_TESTS_DEVICE_PTX_FORMS_TABLE_H
#define EVOTILE_TESTS_DEVICE_PTX_FORMS_TABLE_H

#include <stdbool.h>

struct form_row {
    const char *pattern, *groups;
    double ulps;
    const char *body;
    double least;
    int cluster;
};

#define FORM(row_pattern, row_groups, row_ulps, ...)                                               \
    { .pattern = row_pattern, .groups = row_groups, .ulps = row_ulps, __VA_ARGS__ }

#define WORDS     "{u16,s16,u32,s32,u64,s64}"
#define INTEGERS  "{u8,s8,u16,s16,u32,s32,u64,s64}"
#define ORDERED   "{eq,ne,lt,le,gt,ge}"
#define UNORDERED "{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}"
#define ROUNDED   "{.rn,.rz,.rm,.rp}"
#define ANY_ROUND "{,.rn,.rz,.rm,.rp}"
#define TO_WHOLE  "{rni,rzi,rmi,rpi}"
#define MEMBERS   "0xffffffff"

/* Stores operands a and b to the memory that the form reads. */
#define FROM_GLOBAL "st.global.b64 [$m], $a; st.global.b64 [$m+8], $b; $f $d, [$m];"
#define FROM_SHARED "st.shared.b64 [$s], $a; st.shared.b64 [$s+8], $b; $f $d, [$s];"
#define FROM_LOCAL                                                                                 \
    ".local .align 16 .b8 own[16]; st.local.b64 [own], $a; st.local.b64 [own+8], $b; $f $d, "      \
    "[own];"
#define LOADS(what, groups)                                                                        \
    FORM("ld.global" what, groups, 0, .body = FROM_GLOBAL),                                        \
        FORM("ld.shared" what, groups, 0, .body = FROM_SHARED),                                    \
        FORM("ld.local" what, groups, 0, .body = FROM_LOCAL),
#define ATOM_GLOBAL "st.global.$w [$m], $a; $f $d, [$m], $b; ld.global.$w $q, [$m];"
#define ATOM_SHARED "st.shared.$w [$s], $a; $f $d, [$s], $b; ld.shared.$w $q, [$s];"
#define CAS_GLOBAL  "st.global.$w [$m], $a; $f $d, [$m], $b, $c; ld.global.$w $q, [$m];"
#define CAS_SHARED  "st.shared.$w [$s], $a; $f $d, [$s], $b, $c; ld.shared.$w $q, [$s];"
#define RED_GLOBAL  "st.global.$w [$m], $a; $f [$m], $b; ld.global.$w $d, [$m];"
#define RED_SHARED  "st.shared.$w [$s], $a; $f [$s], $b; ld.shared.$w $d, [$s];"
#define BESIDE      "$f; mov.b32 $d, $a;"
#define GENERIC     ".reg .b64 at; cvta.global.u64 at, $m; "
/* All lanes of a warp access the first lane's bytes, `at` before their own. */
#define TOGETHER                                                                                   \
    ".reg .b32 at; .reg .pred first; mov.u32 at, %laneid; setp.eq.u32 first, at, 0; "              \
    "shl.b32 at, at, 4; "
#define MEET "bar.warp.sync " MEMBERS "; "
/* b, of the block's first threads, is the right matrix, of so many bytes; `to` describes it. */
#define RIGHT_OF(bytes)                                                                            \
    ".shared .align 128 .b8 right[" bytes "]; .reg .b32 at, it; .reg .b64 to, left; "              \
    ".reg .pred yes; mov.u32 at, right; mov.u32 it, own; sub.u32 it, $s, it; "                     \
    "add.u32 at, at, it; setp.lt.u32 yes, it, " bytes "; @yes st.shared.v4.b32 [at], $b; "         \
    "setp.eq.u32 yes, it, it; mov.u32 at, right; shr.u32 at, at, 4; cvt.u64.u32 to, at; "          \
    "or.b64 to, to, 0x1000080000; "
#define RIGHT_IN   RIGHT_OF("256")
#define RIGHT_IN_2 RIGHT_OF("512") /* for a sparse a */
#define PRODUCT(operands)                                                                          \
    "fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned; $f $d, " operands                    \
    "; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
#define MULTIPLY(left)                  PRODUCT(left ", to, yes, $x")
#define MULTIPLY_WHOLE(left)            PRODUCT(left ", to, yes")
#define MULTIPLY_SPARSE(left, selector) PRODUCT(left ", to, $e, " selector ", yes, $x")
#define MULTIPLY_SPARSE_WHOLE(left)     PRODUCT(left ", to, $e, 0, yes")
#define LEFT_IN                                                                                    \
    "st.shared.v4.b32 [$s], $a; mov.u32 at, own; shr.u32 at, at, 4; cvt.u64.u32 left, at; "        \
    "or.b64 left, left, 0x1000080000; "
#define START_4 "mov.b32 %d0, %c0; mov.b32 %d1, %c1; mov.b32 %d2, %c2; mov.b32 %d3, %c3; "
#define START_2 "mov.b32 %d0, %c0; mov.b32 %d1, %c1; "
/* A carry from c (below 4), and the carry as a number. */
#define CARRY_IN ".reg .u32 it; add.cc.u32 it, $c, 0xfffffffe; "
#define CARRY    "addc.$u $q, 0, 0;"
#define ONE_B    "$f $d, $a, {$b}, $c;"
#define PAIRED   ".reg .b32 x, y; mov.b32 x, $a; mov.b32 y, $b; $f $d, x, y;"
#define SPARSE_A "$f $d, $a, $b, $c, $e, $x;"
/* With and without ordered metadata. */
#define SPARSE(what, groups)                                                                       \
    FORM("mma.sp::ordered_metadata.sync.aligned." what, groups "~pairs", 0, .body = SPARSE_A),     \
        FORM("mma.sp.sync.aligned." what, groups "~picks", 0, .body = SPARSE_A)
#define SPARSE_TF32(what, groups)                                                                  \
    FORM("mma.{sp::ordered_metadata,sp}.sync.aligned." what, groups "~halves", 0, .body = SPARSE_A)
#define ROWS_IN "st.shared.v4.b32 [$s], $a; bar.warp.sync " MEMBERS "; "

/* A copy to the thread's bytes, followed by an mbarrier. */
#define TRACKED                                                                                    \
    ".reg .b32 at; .reg .pred came; add.u32 at, $s, 8; mbarrier.init.shared.b64 [at], 1; "         \
    "cp.async.ca.shared.global [$s], [$n], 8; "
#define AWAIT_TRACKED                                                                              \
    "AGAIN: mbarrier.try_wait.parity.shared.b64 came, [at], 0; @!came bra AGAIN; "                 \
    "ld.shared.b64 $d, [$s]; mbarrier.inval.shared.b64 [at];"

/* Two blocks: `there` is the thread's bytes in the other one, and an mbarrier here and there (`at`)
   waits for $x bytes, all that a block gets. */
#define MEET_CLUSTER "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; "
#define NEIGHBOUR                                                                                  \
    "st.shared.b32 [$s], $a; .reg .b32 rank, at; mov.u32 rank, %cluster_ctarank; "                 \
    "xor.b32 rank, rank, 1; mapa.shared::cluster.u32 at, $s, rank; " MEET_CLUSTER
#define ACROSS                                                                                     \
    ".shared .align 8 .b64 bar; .reg .b32 rank, there, at, it; .reg .pred first, came; "           \
    "mov.u32 rank, %cluster_ctarank; xor.b32 rank, rank, 1; mov.u32 it, %tid.x; "                  \
    "setp.eq.u32 first, it, 0; @first mbarrier.init.shared.b64 [bar], 1; "                         \
    "fence.mbarrier_init.release.cluster; fence.proxy.async; " MEET_CLUSTER                        \
    "@first mbarrier.arrive.expect_tx.shared.b64 _, [bar], $x; "                                   \
    "mapa.shared::cluster.u32 there, $s, rank; mov.u32 at, bar; "                                  \
    "mapa.shared::cluster.u32 at, at, rank; "
#define AWAIT_ACROSS                                                                               \
    "AGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 came, [bar], 0; "             \
    "@!came bra AGAIN; "
/* Sends b, from separate memory, to the neighbour's a. */
#define SEND_ACROSS                                                                                \
    ".shared .align 128 .b8 sent[2048]; .reg .b32 from, spot; mov.u32 from, sent; mov.u32 spot, "  \
    "own; "                                                                                        \
    "sub.u32 spot, $s, spot; add.u32 from, from, spot; "
/* a in global, b in shared memory. */
#define REDUCE(vector)                                                                             \
    "st.global." vector " [$m], $a; st.shared." vector " [$s], $b; fence.proxy.async; "            \
    "$f [$m], [$s], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; "                  \
    "ld.global." vector " $d, [$m];"
/* No infinity, NaN or zero, which PTX leaves open. */
#define TAME(number, mask)                                                                         \
    "and.b32 " number ", " number ", " mask "; or.b32 " number ", " number ", 0x10001; "
#define TAME_FOUR(of, mask)                                                                        \
    TAME("%" of "0", mask)                                                                         \
    TAME("%" of "1", mask)                                                                         \
    TAME("%" of "2", mask)                                                                         \
    TAME("%" of "3", mask)
#define TAME_ALL(mask) TAME_FOUR("a", mask) TAME_FOUR("b", mask)

static const struct form_row form_rows[] = {
    /* ---- integers ---- */
    FORM("{add,sub}." WORDS, "t = t t", 0),
    FORM("{add,sub}.sat.s32", "t = t t", 0),
    FORM("mul.{lo,hi}." WORDS, "t = t t", 0),
    FORM("mul.wide.{u16,s16}", "b32 = t t", 0),
    FORM("mul.wide.{u32,s32}", "b64 = t t", 0),
    FORM("mul24.lo.{u32,s32}", "t = t t", 0),
    FORM("mad.lo." WORDS, "t = t t t", 0),
    FORM("mad.hi.{u32,s32,u64,s64}", "t = t t t", 0),
    FORM("mad.wide.{u16,s16}", "b32 = t t b32", 0),
    FORM("mad.wide.{u32,s32}", "b64 = t t b64", 0),
    FORM("{add,sub}.cc.{u32,s32,u64,s64}", "t t = t t", 0, .body = "$f $d, $a, $b; " CARRY),
    FORM("{addc,subc}{,.cc}.{u32,s32,u64,s64}", "t t = t t u32~few", 0,
         .body = CARRY_IN "$f $d, $a, $b; " CARRY),
    FORM("mad.{lo,hi}.cc.{u32,s32,u64,s64}", "t t = t t t", 0, .body = "$f $d, $a, $b, $c; " CARRY),
    FORM("madc.{lo,hi}{,.cc}.{u32,s32,u64,s64}", "t t = t t t u32~few", 0,
         .body = ".reg .u32 it; add.cc.u32 it, $e, 0xfffffffe; $f $d, $a, $b, $c; " CARRY),
    FORM("sad." WORDS, "t = t t t", 0),
    FORM("mad.hi.{u16,s16}", "t = t t t", 0),
    FORM("mad.hi.sat.s32", "t = t t t", 0),
    FORM("mul24.hi.{u32,s32}", "t = t t", 0),
    FORM("mad24.{lo,hi}.{u32,s32}", "t = t t t", 0),
    FORM("cvt.pack.sat.{u16,s16}.s32", "b32 = t t", 0),
    FORM("cvt.pack.sat.{u8,s8}.s32.b32", "b32 = s32 s32 b32", 0),
    FORM("{div,rem}." WORDS, "t = t t", 0),
    FORM("{abs,neg}.{s16,s32,s64}", "t = t", 0),
    FORM("{min,max}." WORDS, "t = t t", 0),
    FORM("{min,max}.s32.relu", "s32 = s32 s32", 0),
    FORM("add.{u16x2,s16x2}", "b32 = 2s16 2s16", 0, .body = PAIRED),
    FORM("{min,max}.{u16x2,s16x2,s16x2.relu}", "b32 = 2s16 2s16", 0, .body = PAIRED),
    FORM("vabsdiff{2,4}.u32.u32.u32{,.add}", "t = t t t", 0),
    FORM("{and,or,xor}.{b16,b32,b64,pred}", "t = t t", 0),
    FORM("not.{b16,b32,b64,pred}", "t = t", 0),
    FORM("cnot.{b16,b32,b64}", "t = t", 0),
    FORM("shl.{b16,b32,b64}", "t = t u32~count", 0),
    FORM("shr.{b16,b32,b64,u16,s16,u32,s32,u64,s64}", "t = t u32~count", 0),
    FORM("shf.{l,r}.{wrap,clamp}.b32", "t = t t u32~count", 0),
    FORM("bfe.{u32,s32,u64,s64}", "t = t u32~count u32~count", 0),
    FORM("bfi.{b32,b64}", "t = t t u32~count u32~count", 0),
    FORM("prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}", "t = t t t", 0),
    FORM("dp4a.{u32,s32}.{u32,s32}", "t = b32 b32 b32", 0),
    FORM("dp2a.{lo,hi}.{u32,s32}.{u32,s32}", "t = b32 b32 b32", 0),
    FORM("lop3.b32|{0x00,0x01,0x1b,0x80,0x96,0xca,0xe8,0xfe}", "t = t t t", 0,
         .body = "$f $d, $a, $b, $c, $x;"),
    FORM("{popc,clz}.{b32,b64}", "b32 = t", 0),
    FORM("brev.{b32,b64}", "t = t", 0),
    FORM("fns.b32", "t = t u32~lane s32~few", 0),
    FORM("fns.b32", "t = t u32~lane", 0,
         .body = ".reg .s32 nth; shr.s32 nth, $a, 29; $f $d, $a, $b, nth;"),
    FORM("bfind.{u32,s32,u64,s64}", "b32 = t", 0),
    FORM("bfind.shiftamt.{u32,s32,u64,s64}", "b32 = t", 0),
    FORM("bmsk.{clamp,wrap}.b32", "t = u32~count u32~count", 0),
    FORM("szext.{clamp,wrap}.{u32,s32}", "t = t u32~count", 0),
    FORM("selp.{b16,b32,b64,u16,s16,u32,s32,u64,s64,f32,f64}", "t = t t pred", 0),
    FORM("slct.{b32,u32,s32,f32}.s32", "d = d d t", 0),
    FORM("slct.{b16,u16,s16,b64,u64,s64,f64}.{s32,f32}", "d = d d t", 0),
    FORM("slct{,.ftz}.{b32,u32,s32,f32}.f32", "d = d d t", 0),
    FORM("slct.{b32,u32}.f32", "d = d d t", 0,
         .body = ".reg .b32 it; mul.ftz.f32 it, $c, $c; $f $d, $a, $b, $c;"),
    FORM("mov.{pred,b16,b32,b64,u16,s16,u32,s32,u64,s64,f32,f64}", "t = t", 0),
    FORM("mov.b16", "t = b32", 0,
         .body = ".reg .b8 low, high; cvt.u8.u32 low, $a; mov.b16 {high, _}, 0x1234; "
                 "$f $d, {low, high};"),
    FORM("mov.b32", "b32 = t", 0,
         .body = ".reg .b8 x0, x1, x2, x3; $f {x0, x1, x2, x3}, $a; $f $d, {x3, x0, x1, x2};"),
    FORM("mov.b32", "t = 2b16", 0),
    FORM("mov.b32", "2b16 = t", 0),
    FORM("mov.b64", "t = 2b32", 0),
    FORM("mov.b64", "2b32 = t", 0),
    FORM("mov.b64", "t = 4b16", 0),
    FORM("mov.b64", "4b16 = t", 0),
    FORM("mov.b128", "2b64 = 2b64", 0, .body = ".reg .b128 x, y; $f x, $a; $f y, x; $f $d, y;"),
    FORM("mov.pred", "pred = b32", 0, .body = "$f $d, %is_explicit_cluster;"),
    FORM("mov.pred", "pred = b32", 0, .body = "$f $d, %is_explicit_cluster;", .cluster = 2),
    FORM("mov.u64|%current_graph_exec", "b64 = b64", 0, .body = "$f $d, $x;"),
    FORM("mov.u32|{%aggr_smem_size,%total_smem_size,%dynamic_smem_size}", "b32 = b32", 0,
         .body = "$f $d, $x;"),

    FORM("mov.{b16,u32,s64}|{1,-1,0x7f,0b101,017,WARP_SZ}", "t = t", 0, .body = "$f $d, $x;"),
    FORM("add.f32|{0f3f800000,0fff800000,1.5,-2.0e-3}", "t = t", 0, .body = "$f $d, $a, $x;"),
    FORM("fma.rn.f64|{0d3ff8000000000000,0.1}", "t = t t", 0, .body = "$f $d, $a, $x, $b;"),
    FORM("mad.lo.s32|{-3,0x7fffffff}", "t = t t", 0, .body = "$f $d, $a, $x, $b;"),

    /* ---- comparisons ---- */
    FORM("setp.{eq,ne}.{b16,b32,b64}", "pred = t t", 0),
    FORM("setp." ORDERED "." WORDS, "pred = t t", 0),
    FORM("setp.{lo,ls,hi,hs}.{u16,u32,u64}", "pred = t t", 0),
    FORM("setp." UNORDERED "{,.ftz}.f32", "pred = t t", 0),
    FORM("setp." UNORDERED ".{f64,f16,bf16}", "pred = t t", 0),
    FORM("setp.{lt,eq}.{f16,bf16}", "pred = t t b32", 0,
         .body = ".reg .b32 it; mul.ftz.f32 it, $c, $c; $f $d, $a, $b;"),
    FORM("setp." UNORDERED ".{f16x2,bf16x2}", "pred pred = t t", 0, .body = "$f $d|$q, $a, $b;"),
    FORM("setp.{lt,eq}.{and,or,xor}.{s32,f32}", "pred pred = t t pred", 0,
         .body = "$f $d|$q, $a, $b, $c;"),
    FORM("setp.ge.{and,or,xor}.{u64,f64,f16}", "pred = t t pred", 0, .body = "$f $d, $a, $b, !$c;"),
    FORM("set.{lt,ne}.{u32,s32,f32}." WORDS, "d = t t", 0),
    FORM("set.{lt,gtu,num}.{u32,s32,f32}.{f32,f64}", "d = t t", 0),
    FORM("set.{le,neu}.ftz.{u32,f32}.f32", "d = t t", 0),
    FORM("set.{lt,geu}.{u16,u32,f16}.f16", "d = t t", 0),
    FORM("set.{lt,geu}.{u16,u32,bf16}.bf16", "d = t t", 0),
    FORM("set.{lt,geu,nan}.{u32,f16x2}.f16x2", "d = t t", 0),
    FORM("set.{lt,geu,nan}.{u32,bf16x2}.bf16x2", "d = t t", 0),
    FORM("set.{lt,ne}.{and,or,xor}.{u32,f32}.{s32,f32}", "d = t t pred", 0),

    /* ---- fp32 and fp64 ---- */
    FORM("{add,sub,mul}" ANY_ROUND "{,.ftz}{,.sat}.f32", "t = t t", 0),
    FORM("{fma,mad}" ROUNDED "{,.ftz}{,.sat}.f32", "t = t t t", 0),
    FORM("{add,sub,mul}" ANY_ROUND ".f64", "t = t t", 0),
    FORM("{fma,mad}" ROUNDED ".f64", "t = t t t", 0),
    FORM("div" ROUNDED "{,.ftz}.f32", "t = t t", 0),
    FORM("{rcp,sqrt}" ROUNDED "{,.ftz}.f32", "t = t", 0),
    FORM("div" ROUNDED ".f64", "t = t t", 0),
    FORM("{rcp,sqrt}" ROUNDED ".f64", "t = t", 0),
    FORM("{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f32", "t = t t", 0),
    FORM("testp.{finite,infinite,number,notanumber,normal,subnormal}.{f32,f64}", "pred = t", 0),
    FORM("{min,max}.f64", "t = t t", 0),
    FORM("{abs,neg}{,.ftz}.f32", "t = t", 0),
    FORM("{abs,neg}.f64", "t = t", 0),
    FORM("copysign.{f32,f64}", "t = t t", 0),
    /* div.approx is defined for divisors up to 2^126. */
    FORM("div.approx{,.ftz}.f32", "t = t t~ordinary", 2),
    FORM("div.full{,.ftz}.f32", "t = t t", 2),
    FORM("{rcp,sqrt,rsqrt}.approx{,.ftz}.f32", "t = t", 2),
    FORM("{rcp,rsqrt}.approx.ftz.f64", "t = t", 0x1p32), /* one unit of the upper half */
    FORM("rsqrt.approx.f64", "t = t", 2),
    FORM("ex2.approx{,.ftz}.f32", "t = t", 3),
    FORM("lg2.approx{,.ftz}.f32", "t = t", 4, .least = 1),
    FORM("{sin,cos}.approx{,.ftz}.f32", "t = t~angle", 4, .least = 1),
    FORM("tanh.approx.f32", "t = t", 160),

    /* ---- f16 and bf16 ---- */
    FORM("{add,sub,mul}{,.rn}{,.sat}.{f16,f16x2}", "t = t t", 0),
    FORM("{add,sub,mul}{,.rn}.{bf16,bf16x2}", "t = t t", 0),
    FORM("fma.rn{,.sat,.relu}.{f16,f16x2}", "t = t t t", 0),
    FORM("fma.rn{,.relu}.{bf16,bf16x2}", "t = t t t", 0),
    FORM("{min,max}{,.NaN}{,.xorsign.abs}.{f16,f16x2,bf16,bf16x2}", "t = t t", 0),
    FORM("{add,sub,mul}{,.rn}.ftz{,.sat}.{f16,f16x2}", "t = t t", 0),
    FORM("fma.rn.ftz{,.sat,.relu}.{f16,f16x2}", "t = t t t", 0),
    FORM("{min,max}.ftz{,.NaN}{,.xorsign.abs}.{f16,f16x2}", "t = t t", 0),
    FORM("{abs,neg}.ftz.{f16,f16x2}", "t = t", 0),
    FORM("{abs,neg}.{f16,f16x2,bf16,bf16x2}", "t = t", 0),
    FORM("ex2.approx.{f16,f16x2}", "t = t", 2),
    FORM("ex2.approx.ftz.{bf16,bf16x2}", "t = t", 2),
    FORM("tanh.approx.{f16,f16x2,bf16,bf16x2}", "t = t", 2),

    /* ---- conversions ---- */
    FORM("cvt." INTEGERS "." INTEGERS, "d = t", 0),
    FORM("cvt.sat.{u8,s8}.{u16,s16,u32,s32,u64,s64}", "d = t", 0),
    FORM("cvt.sat.{u16,s16}.{u32,s32,u64,s64}", "d = t", 0),
    FORM("cvt.sat.{u32,s32}.{u64,s64}", "d = t", 0),
    FORM("cvt.sat.{u8.s8,s8.u8,u16.s16,s16.u16,u32.s32,s32.u32,u64.s64,s64.u64}", "d = t", 0),
    FORM("cvt.{u8,s8,u16,s16}.{u32,s32,u64}", "b32 = t", 0),
    FORM("cvt." TO_WHOLE "{,.ftz}." INTEGERS ".f32", "d = t", 0),
    FORM("cvt." TO_WHOLE "." INTEGERS ".{f16,f64}", "d = t", 0),
    FORM("cvt." TO_WHOLE "." WORDS ".bf16", "d = t", 0),
    FORM("cvt" ROUNDED "{,.sat}.f32." INTEGERS, "d = t", 0),
    FORM("cvt" ROUNDED ".{f16,f64}." INTEGERS, "d = t", 0),
    FORM("cvt" ROUNDED ".bf16." WORDS, "d = t", 0),
    FORM("cvt{,.ftz}{,.sat}.f32.f32", "d = t", 0),
    FORM("cvt." TO_WHOLE "{,.ftz}{,.sat}.f32.f32", "d = t", 0),
    FORM("cvt." TO_WHOLE ".{f16.f16,f64.f64}", "d = t", 0),
    FORM("cvt{,.sat}.{f16.f16,f64.f64}", "d = t", 0),
    FORM("cvt" ROUNDED "{,.ftz}{,.sat}.f32.f64", "d = t", 0),
    FORM("cvt{,.ftz}.f64.f32", "d = t", 0),
    FORM("cvt{,.ftz}{,.sat}.f32.f16", "d = t", 0),
    FORM("cvt{,.sat}.f64.f16", "d = t", 0),
    FORM("cvt" ROUNDED "{,.ftz}{,.sat}.f16.f32", "d = t", 0),
    FORM("cvt" ROUNDED "{,.sat}.f16.f64", "d = t", 0),
    FORM("cvt.{rn,rz}{,.relu}.{f16,bf16}.f32", "d = t", 0),
    FORM("cvt.{rn,rz}{,.relu}.{f16x2,bf16x2}.f32", "d = t t", 0),
    FORM("cvt{,.ftz}.f32.bf16", "d = t", 0),
    FORM("cvt.f64.bf16", "d = t", 0),
    FORM("cvt" ROUNDED ".bf16.{f16,f64}", "d = t", 0),
    FORM("cvt" ROUNDED ".f16.bf16", "d = t", 0),
    FORM("cvt." TO_WHOLE ".{u8,s8}.bf16", "b16 = t", 0,
         .body = ".reg .b8 byte; $f byte, $a; mov.b16 $d, {byte, 0};"),
    FORM("cvt." TO_WHOLE ".bf16.bf16", "d = t", 0),
    FORM("cvt.{rm,rp}.bf16.f32", "d = t", 0),
    FORM("cvt.rna{,.satfinite}.tf32.f32", "b32 = t", 0),
    FORM("cvt.{rn,rz}{,.relu}.tf32.f32", "b32 = t", 0),
    FORM("cvt.{rn,rz}.satfinite{,.relu}.{f16,bf16}.f32", "d = t", 0),
    FORM("cvt.{rn,rz}.satfinite{,.relu}.{f16x2,bf16x2}.f32", "d = t t", 0),
    FORM("cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f32", "b16 = t t", 0),
    FORM("cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f32", "b16 = t~matrix t~matrix", 0),
    FORM("cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f16x2", "b16 = t", 0),
    FORM("cvt.rn{,.relu}.f16x2.{e4m3x2,e5m2x2}", "f16x2 = b16", 0),

    /* ---- between lanes ---- */
    FORM("shfl.sync.idx.b32|{0x1f,0x181f,0x1c07}", "b32 pred = b32 u32~lane", 0,
         .body = "$f $d|$q, $a, $b, $x, " MEMBERS ";"),
    FORM("shfl.sync.{down,bfly}.b32|{0x1f,0x181f,0x1c03}", "b32 pred = b32 u32~lane", 0,
         .body = "$f $d|$q, $a, $b, $x, " MEMBERS ";"),
    FORM("shfl.sync.up.b32|{0,0x1800,0x1c00}", "b32 pred = b32 u32~lane", 0,
         .body = "$f $d|$q, $a, $b, $x, " MEMBERS ";"),
    FORM("vote.sync.{all,any,uni}.pred", "pred = pred~crowd", 0, .body = "$f $d, $a, " MEMBERS ";"),
    FORM("vote.sync.{all,any,uni}.pred", "pred = pred~crowd", 0,
         .body = "$f $d, !$a, " MEMBERS ";"),
    FORM("vote.sync.ballot.b32", "b32 = pred", 0, .body = "$f $d, $a, " MEMBERS ";"),
    FORM("activemask.b32", "b32 = pred", 0, .body = "mov.b32 $d, 0; @$a $f $d;"),
    FORM("match.any.sync.{b32,b64}", "b32 = t~few", 0, .body = "$f $d, $a, " MEMBERS ";"),
    FORM("match.all.sync.{b32,b64}", "b32 pred = t~crowd", 0, .body = "$f $d|$q, $a, " MEMBERS ";"),
    FORM("redux.sync.{add,min,max}.{u32,s32}", "b32 = t", 0, .body = "$f $d, $a, " MEMBERS ";"),
    FORM("redux.sync.{and,or,xor}.b32", "b32 = t", 0, .body = "$f $d, $a, " MEMBERS ";"),
    FORM("redux.sync.{add.u32,max.s32,xor.b32}", "b32 = b32 pred", 0,
         .body = ".reg .b32 members; vote.sync.ballot.b32 members, $b, " MEMBERS "; mov.b32 $d, 0; "
                 "@$b $f $d, $a, members;"),
    FORM("shfl.sync.bfly.b32", "b32 pred = b32 pred", 0,
         .body = ".reg .b32 members; vote.sync.ballot.b32 members, $b, " MEMBERS "; mov.b32 $d, 0; "
                 "setp.ne.b32 $q, $d, 0; @$b $f $d|$q, $a, 0, 0x1f, members;"),
    FORM("elect.sync", "b32 pred = b32", 0, .body = "$f $d|$q, " MEMBERS ";"),
    FORM("bar.warp.sync", "b32 = b32", 0,
         .body = ".reg .b32 other; xor.b32 other, $s, 16; st.shared.b32 [$s], $a; $f " MEMBERS "; "
                 "ld.shared.b32 $d, [other];"),

    /* ---- barriers and fences; a block has 128 threads ---- */
    FORM("{bar,barrier}{,.cta}.sync", "b32 = b32", 0,
         .body = ".reg .b32 other; xor.b32 other, $s, 1008; st.shared.b32 [$s], $a; $f 0; "
                 "ld.shared.b32 $d, [other];"),
    FORM("barrier.sync.aligned", "b32 = b32", 0,
         .body = ".reg .b32 other; xor.b32 other, $s, 1008; st.shared.b32 [$s], $a; $f 1, 128; "
                 "ld.shared.b32 $d, [other];"),
    FORM("bar.red.popc.u32", "b32 = pred", 0, .body = "$f $d, 0, $a;"),
    FORM("{bar,barrier}.red.{and,or}.pred", "pred = pred~crowd", 0, .body = "$f $d, 0, $a;"),
    FORM("bar.arrive", "b32 = b32", 0,
         .body = ".reg .pred low; .reg .b32 it; mov.u32 it, %tid.x; setp.lt.u32 low, it, 64; "
                 "sub.u32 it, $s, 1024; @low add.u32 it, $s, 0; st.shared.b32 [$s], $a; "
                 "@low $f 2, 128; @!low bar.sync 2, 128; ld.shared.b32 $d, [it];"),
    FORM("membar.{cta,gl,sys}", "b32 = b32", 0, .body = BESIDE),
    FORM("fence.{sc,acq_rel}.{cta,cluster,gpu,sys}", "b32 = b32", 0, .body = BESIDE),
    FORM("fence.proxy.async{,.global,.shared::cta}", "b32 = b32", 0, .body = BESIDE),
    FORM("barrier.cluster.arrive{,.release,.relaxed}{,.aligned}", "b32 = b32", 0,
         .body = "$f; barrier.cluster.wait; mov.b32 $d, $a;"),
    FORM("mbarrier.init.shared.b64", "pred = b32", 0,
         .body = ".reg .b64 phase; $f [$s], 1; mbarrier.arrive.shared.b64 phase, [$s]; "
                 "mbarrier.test_wait.shared.b64 $d, [$s], phase; mbarrier.inval.shared.b64 [$s];"),
    FORM(
        "mbarrier.{test_wait,try_wait}.parity.shared.b64", "pred pred = b32", 0,
        .body =
            "mbarrier.init.shared.b64 [$s], 1; $f $d, [$s], 0; mbarrier.arrive.shared.b64 _, [$s]; "
            "$f $q, [$s], 0; mbarrier.inval.shared.b64 [$s];"),
    FORM("pmevent", "b32 = b32", 0, .body = "$f 3; mov.b32 $d, $a;"),
    FORM("mbarrier.{test_wait,try_wait}.parity.acquire.{cta,cluster}.shared::cta.b64",
         "pred pred = b32", 0,
         .body =
             "mbarrier.init.shared.b64 [$s], 2; mbarrier.arrive.release.cluster.shared::cta.b64 "
             "_, [$s], 1; $f $d, [$s], 0; mbarrier.arrive.release.cta.shared::cta.b64 _, [$s]; "
             "$f $q, [$s], 0; mbarrier.inval.shared.b64 [$s];"),
    FORM("mbarrier.arrive.expect_tx{,.release.cta,.release.cluster}.shared::cta.b64",
         "pred pred b32 = b32", 0,
         .body = ".reg .b64 phase; mbarrier.init.shared.b64 [$s], 2; $f phase, [$s], 16; "
                 "mbarrier.arrive.shared.b64 _, [$s]; "
                 "mbarrier.test_wait.parity.shared.b64 $d, [$s], 0; "
                 "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [$s], 16; "
                 "mbarrier.test_wait.shared.b64 $q, [$s], phase; "
                 "mbarrier.pending_count.b64 $v, phase; mbarrier.inval.shared.b64 [$s];"),
    FORM("mbarrier.expect_tx.relaxed.{cta,cluster}.shared::cta.b64", "pred pred = b32", 0,
         .body = "mbarrier.init.shared.b64 [$s], 1; $f [$s], 32; mbarrier.arrive.shared.b64 _, "
                 "[$s]; mbarrier.test_wait.parity.shared.b64 $d, [$s], 0; "
                 "mbarrier.complete_tx.shared::cta.b64 [$s], 32; "
                 "mbarrier.test_wait.parity.shared.b64 $q, [$s], 0; "
                 "mbarrier.inval.shared.b64 [$s];"),
    FORM("mbarrier.arrive{,_drop}.noComplete.shared.b64", "b32 pred = b32", 0,
         .body = ".reg .b64 phase; mbarrier.init.shared.b64 [$s], 5; $f phase, [$s], 2; "
                 "mbarrier.arrive.shared.b64 phase, [$s]; mbarrier.pending_count.b64 $d, phase; "
                 "mbarrier.test_wait.parity.shared.b64 $q, [$s], 0; "
                 "mbarrier.inval.shared.b64 [$s];"),
    FORM("mbarrier.arrive_drop{,.release.cta}.shared::cta.b64", "b32 pred pred = b32", 0,
         .body = ".reg .b64 phase; mbarrier.init.shared.b64 [$s], 2; $f phase, [$s]; "
                 "mbarrier.arrive.shared.b64 _, [$s]; "
                 "mbarrier.test_wait.parity.shared.b64 $q, [$s], 0; "
                 "mbarrier.arrive.shared.b64 phase, [$s]; mbarrier.pending_count.b64 $d, phase; "
                 "mbarrier.test_wait.parity.shared.b64 $v, [$s], 1; "
                 "mbarrier.inval.shared.b64 [$s];"),
    FORM("mbarrier.arrive{,.release.cluster}.shared::cluster.b64", "b32 = b32", 0,
         .body = ".shared .align 8 .b64 bar; .reg .b32 rank, at, it; .reg .pred first, came; "
                 "mov.u32 rank, %cluster_ctarank; xor.b32 rank, rank, 1; mov.u32 it, %tid.x; "
                 "setp.eq.u32 first, it, 0; @first mbarrier.init.shared.b64 [bar], 128; "
                 "fence.mbarrier_init.release.cluster; st.shared.b32 [$s], $a; " MEET_CLUSTER
                 "mov.u32 at, bar; mapa.shared::cluster.u32 at, at, rank; $f _, [at]; "
                 "AGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 came, [bar], 0; "
                 "@!came bra AGAIN; mapa.shared::cluster.u32 at, $s, rank; "
                 "ld.shared::cluster.b32 $d, [at]; " MEET_CLUSTER,
         .cluster = 2),
    FORM("atom.relaxed.cluster.shared::cluster.add.u32", "b32 b32 = b32 b32", 0,
         .body = NEIGHBOUR "$f $q, [at], $b; " MEET_CLUSTER "ld.shared.b32 $d, [$s];",
         .cluster = 2),
    FORM("red.relaxed.cluster.shared::cluster.add.u32", "b32 = b32 b32", 0,
         .body = NEIGHBOUR "$f [at], $b; " MEET_CLUSTER "ld.shared.b32 $d, [$s];", .cluster = 2),
    FORM("ld.{relaxed,acquire}.cluster.shared::cluster.b32", "b32 = b32", 0,
         .body = NEIGHBOUR "$f $d, [at]; " MEET_CLUSTER, .cluster = 2),
    FORM("st.{relaxed,release}.cluster.shared::cluster.b32", "b32 = b32 b32", 0,
         .body = NEIGHBOUR "$f [at], $b; " MEET_CLUSTER "ld.shared.b32 $d, [$s];", .cluster = 2),
    FORM("nanosleep.u32", "b32 = b32", 0, .body = "$f 20; mov.b32 $d, $a;"),
    FORM("griddepcontrol.{wait,launch_dependents}", "b32 = b32", 0, .body = BESIDE),

    /* ---- control ---- */
    FORM("bra{,.uni}", "b32 = b32 pred~block", 0,
         .body = "mov.b32 $d, 1; @$b $f SKIP; mov.b32 $d, $a; SKIP:"),
    FORM("bra", "b32 = b32 pred", 0, .body = "mov.b32 $d, 1; @!$b $f SKIP; mov.b32 $d, $a; SKIP:"),
    FORM("brx.idx", "b32 = u32~count", 0,
         .body = ".reg .b32 index; T: .branchtargets A, B, C; and.b32 index, $a, 1; mov.b32 $d, 7; "
                 "$f index, T; A: mov.b32 $d, 1; bra C; B: mov.b32 $d, 2; C:"),
    FORM("call{,.uni}", "b32 = b32", 0,
         .body = "{ .param .b32 from; .param .b32 to; st.param.b32 [from], $a; "
                 "$f (to), form_function, (from); ld.param.b32 $d, [to]; }"),
    FORM("call{,.uni}", "b32 = b32", 0,
         .body = "{ .param .b32 from; .param .b32 to; .reg .b64 at; st.param.b32 [from], $a; "
                 "mov.u64 at, form_function; P: .callprototype (.param .b32 _) _ (.param .b32 _); "
                 "$f (to), at, (from), P; ld.param.b32 $d, [to]; }"),
    FORM("{ret,exit}", "b32 = b32 pred", 0, .body = "mov.b32 $d, $a; @$b $f;"),

    /* ---- memory ---- */
    LOADS(".{u8,b8}", "b16 = b64 b64") LOADS(".{u8,s8,u16,s16,b16}", "b32 = b64 b64")
        LOADS(".{u8,s8,u16,s16,b16,u32,s32,b32}", "b64 = b64 b64")
            LOADS(".{u16,b32,f32,b64,f64}", "t = b64 b64") LOADS(".v2.{u16,b32,f32,u64,f64}",
                                                                 "2t = b64 b64")
                LOADS(".v4.{b16,u32,f32}", "4t = b64 b64") LOADS(".v2.{u8,s8}", "2b32 = b64 b64")
                    LOADS(".v4.{u8,s16}", "4b32 = b64 b64")
                        FORM("ld.global.{ca,cg,cs,lu,cv,volatile}.b32", "b32 = b64 b64", 0,
                             .body = FROM_GLOBAL),
    FORM("ld.{volatile,relaxed.gpu,relaxed.sys,acquire.gpu,acquire.cta}.global.v2.b32",
         "2b32 = b64 b64", 0, .body = FROM_GLOBAL),
    FORM("ld.{volatile,relaxed.cta,acquire.cta}.shared.b32", "b32 = b64 b64", 0,
         .body = FROM_SHARED),
    FORM("ld.v2.b32", "2b32 = b64 b64", 0,
         .body = GENERIC "st.global.b64 [$m], $a; st.global.b64 [$m+8], $b; $f $d, [at];"),
    FORM("ld.global{,.L1::no_allocate,.L1::evict_last}{,.L2::128B}.v4.b32", "4b32 = b64 b64", 0,
         .body = FROM_GLOBAL),
    FORM("ld.global.nc{,.L1::no_allocate}.v4.b32", "4b32 = b64 b64", 0, .body = "$f $d, [$n];"),
    FORM("ldu.global.{b32,f32}", "t = b64", 0, .body = "$f $d, [$n];"),
    FORM("ld.const.{u32,s16}", "b32 = u32~lane", 0,
         .body =
             ".reg .b64 at; mul.wide.u32 at, $a, 4; .reg .b64 base; mov.u64 base, form_constants; "
             "add.u64 at, at, base; $f $d, [at];"),
    FORM("st.global{,.wb,.cg,.cs,.wt,.volatile}.b32", "b32 = b32", 0,
         .body = "$f [$m], $a; ld.global.b32 $d, [$m];"),
    FORM("st.{volatile,relaxed.gpu,release.gpu}.global.v2.b32", "2b32 = 2b32", 0,
         .body = "$f [$m], $a; ld.global.v2.b32 $d, [$m];"),
    FORM("st.global.{b8,u16,b32,b64,f32,f64}", "b64 = b64 t", 0,
         .body = "st.global.b64 [$m], $a; $f [$m], $b; ld.global.b64 $d, [$m];"),
    FORM("st.shared.{u8,b16,u32,u64,f32}", "b64 = b64 t", 0,
         .body = "st.shared.b64 [$s], $a; $f [$s], $b; ld.shared.b64 $d, [$s];"),
    FORM("st{.global,}.v2.{b16,b32,f64}", "2b64 = 2b64 2t", 0,
         .body = GENERIC "st.global.v2.b64 [$m], $a; $f [at], $b; ld.global.v2.b64 $d, [$m];"),
    FORM("st{.global,}.v4.{b8,b16,f32}", "2b64 = 2b64 4t", 0,
         .body = GENERIC "st.global.v2.b64 [$m], $a; $f [at], $b; ld.global.v2.b64 $d, [$m];"),
    FORM("atom.global.{add,min,max}.{u32,s32,u64}", "t t = t t", 0, .body = ATOM_GLOBAL),
    FORM("atom.global.{min,max}.s64", "t t = t t", 0, .body = ATOM_GLOBAL),
    FORM("atom.shared.{add,min,max}.{u32,s32,u64}", "t t = t t", 0, .body = ATOM_SHARED),
    FORM("atom.global.{and,or,xor,exch}.{b32,b64}", "t t = t t", 0, .body = ATOM_GLOBAL),
    FORM("atom.shared.{and,or,xor,exch}.{b32,b64}", "t t = t t", 0, .body = ATOM_SHARED),
    FORM("atom.global.{inc,dec}.u32", "t t = t~count t~count", 0, .body = ATOM_GLOBAL),
    FORM("atom.shared.{inc,dec}.u32", "t t = t~count t~count", 0, .body = ATOM_SHARED),
    FORM("atom.global{,.relaxed.gpu,.acq_rel.sys}.cas.{b32,b64}", "t t = t~few t~few t", 0,
         .body = CAS_GLOBAL),
    FORM("atom.global.cas.b16", "t t = t~few t~few t", 0, .body = CAS_GLOBAL),
    FORM("atom{,.relaxed.gpu}.global.exch.b128", "2b64 2b64 = 2b64 2b64", 0,
         .body = ".reg .b128 x, y; mov.b128 y, $b; st.global.v2.b64 [$m], $a; $f x, [$m], y; "
                 "mov.b128 $d, x; ld.global.v2.b64 $q, [$m];"),
    FORM("atom{,.acq_rel.gpu}.global.cas.b128", "2b64 2b64 = 2b64~few 2b64~few 2b64", 0,
         .body = ".reg .b128 x, y, z; mov.b128 y, $b; mov.b128 z, $c; "
                 "st.global.v2.b64 [$m], $a; $f x, [$m], y, z; mov.b128 $d, x; "
                 "ld.global.v2.b64 $q, [$m];"),
    FORM("atom.shared.exch.b128", "2b64 2b64 = 2b64 2b64", 0,
         .body = ".reg .b128 x, y; mov.b128 y, $b; st.shared.v2.b64 [$s], $a; $f x, [$s], y; "
                 "mov.b128 $d, x; ld.shared.v2.b64 $q, [$s];"),
    FORM("atom.shared.cas.{b32,b64}", "t t = t~few t~few t", 0, .body = CAS_SHARED),
    FORM("atom.global.add.{f32,f64,noftz.f16,noftz.f16x2,noftz.bf16,noftz.bf16x2}", "t t = t t", 0,
         .body = ATOM_GLOBAL),
    FORM("atom.shared.add.{f32,f64,noftz.f16,noftz.f16x2,noftz.bf16,noftz.bf16x2}", "t t = t t", 0,
         .body = ATOM_SHARED),
    FORM("atom.add.{u32,f32,f64,noftz.f16,noftz.f16x2,noftz.bf16,noftz.bf16x2}", "t t = t t", 0,
         .body = GENERIC "st.global.$w [$m], $a; $f $d, [at], $b; ld.global.$w $q, [$m];"),
    FORM("atom.add.{u32,f32,noftz.f16x2}", "t t = t t", 0,
         .body = ".reg .b64 at; cvt.u64.u32 at, $s; cvta.shared.u64 at, at; "
                 "st.shared.$w [$s], $a; $f $d, [at], $b; ld.shared.$w $q, [$s];"),
    FORM("red.global.{add,min,max}.{u32,s32,u64}", "t = t t", 0, .body = RED_GLOBAL),
    FORM("red.global.{and,or,xor}.b32", "t = t t", 0, .body = RED_GLOBAL),
    FORM("red.shared.{add,min,max}.{u32,s32}", "t = t t", 0, .body = RED_SHARED),
    FORM("red.global.add.{f32,f64,noftz.f16x2,noftz.bf16x2}", "t = t t", 0, .body = RED_GLOBAL),
    FORM("red.shared.add.{f32,f64}", "t = t t", 0, .body = RED_SHARED),
    FORM("atom{,.relaxed.gpu}.global.add.{v2.f32,noftz.v2.f16x2,noftz.v2.bf16x2}", "2t 2t = 2t 2t",
         0, .body = "st.global.v2.b32 [$m], $a; $f $d, [$m], $b; ld.global.v2.b32 $q, [$m];"),
    FORM("atom.global.add.{v4.f32,noftz.v4.f16x2}", "4t 4t = 4t 4t", 0,
         .body = "st.global.v4.b32 [$m], $a; $f $d, [$m], $b; ld.global.v4.b32 $q, [$m];"),
    FORM("red.global.add.{v2.f32,noftz.v2.f16x2}", "2t = 2t 2t", 0,
         .body = "st.global.v2.b32 [$m], $a; $f [$m], $b; ld.global.v2.b32 $d, [$m];"),
    FORM("red.global.add.{v4.f32,noftz.v4.bf16x2}", "4t = 4t 4t", 0,
         .body = "st.global.v4.b32 [$m], $a; $f [$m], $b; ld.global.v4.b32 $d, [$m];"),
    FORM("red{.relaxed,.release}.{cta,gpu,sys}.global.add.u32", "t = t t", 0, .body = RED_GLOBAL),
    FORM("red.shared.{add.u32,add.s32,add.u64,max.s32,min.u32,and.b32,xor.b32,inc.u32}", "t = t t",
         0,
         .body = TOGETHER "sub.u32 at, $s, at; @first st.shared.$w [at], $a; " MEET
                          "$f [at], $b; " MEET "ld.shared.$w $d, [at];"),
    FORM("red.global.{add.u32,add.u64,max.u64,min.s32,or.b64,dec.u32}", "t = t t", 0,
         .body = TOGETHER ".reg .b64 to; cvt.u64.u32 to, at; sub.u64 to, $m, to; "
                          "@first st.global.$w [to], $a; " MEET "$f [to], $b; " MEET
                          "ld.global.$w $d, [to];"),
    FORM("cp.async.ca.shared.global{,.L2::128B}|{4,8,16}", "2b64 = b64 b64", 0,
         .body = "st.shared.v2.b64 [$s], {$b, $a}; $f [$s], [$n], $x; cp.async.wait_all; "
                 "ld.shared.v2.b64 $d, [$s];"),
    FORM("cp.async.cg.shared.global{,.L2::128B}|{16}", "2b64 = b64 b64", 0,
         .body = "$f [$s], [$n], $x; cp.async.commit_group; cp.async.wait_group 0; "
                 "ld.shared.v2.b64 $d, [$s];"),
    FORM("cp.async.{ca,cg}.shared.global", "2b64 = b64 b64 u32~size", 0,
         .body = "$f [$s], [$n], 16, $c; cp.async.commit_group; cp.async.wait_group 0; "
                 "ld.shared.v2.b64 $d, [$s];"),
    FORM("cp.async.mbarrier.arrive.noinc{.shared,.shared::cta}.b64", "b64 = b64", 0,
         .body = TRACKED "$f [at]; " AWAIT_TRACKED),
    FORM("cp.async.mbarrier.arrive.shared.b64", "b64 = b64", 0,
         .body = TRACKED "$f [at]; mbarrier.arrive.shared.b64 _, [at]; " AWAIT_TRACKED),
    FORM("ld.global{,.L1::no_allocate}.b128", "2b64 = 2b64", 0,
         .body = ".reg .b128 wide; st.global.v2.b64 [$m], $a; $f wide, [$m]; mov.b128 $d, wide;"),
    FORM("ld.shared.b128", "2b64 = 2b64", 0,
         .body = ".reg .b128 wide; st.shared.v2.b64 [$s], $a; $f wide, [$s]; mov.b128 $d, wide;"),
    FORM("st.global{,.L1::no_allocate}.b128", "2b64 = 2b64", 0,
         .body = ".reg .b128 wide; mov.b128 wide, $a; $f [$m], wide; ld.global.v2.b64 $d, [$m];"),
    FORM("st.shared.b128", "2b64 = 2b64", 0,
         .body = ".reg .b128 wide; mov.b128 wide, $a; $f [$s], wide; ld.shared.v2.b64 $d, [$s];"),
    FORM("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.{b32,s32,f32}|512", "t = t", 0,
         .body =
             ACROSS "$f [there], $a, [at]; " AWAIT_ACROSS "ld.shared.$w $d, [$s]; " MEET_CLUSTER,
         .cluster = 2),
    FORM(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.{b64,u64,f64}|1024", "t = t", 0,
        .body = ACROSS "$f [there], $a, [at]; " AWAIT_ACROSS "ld.shared.$w $d, [$s]; " MEET_CLUSTER,
        .cluster = 2),
    FORM("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.{v2.b32|1024,v2.b64|2048}",
         "2t = 2t", 0,
         .body =
             ACROSS "$f [there], $a, [at]; " AWAIT_ACROSS "ld.shared.v2.$w $d, [$s]; " MEET_CLUSTER,
         .cluster = 2),
    FORM("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32|2048", "4t = 4t", 0,
         .body =
             ACROSS "$f [there], $a, [at]; " AWAIT_ACROSS "ld.shared.v4.$w $d, [$s]; " MEET_CLUSTER,
         .cluster = 2),
    FORM("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
         "{add.u32|512,min.u32|512,max.u32|512,add.s32|512,min.s32|512,max.s32|512,and.b32|512,"
         "or.b32|512,xor.b32|512,add.u64|1024}",
         "t = t t", 0,
         .body = "st.shared.$w [$s], $a; " ACROSS "$f [there], $b, [at]; " AWAIT_ACROSS
                 "ld.shared.$w $d, [$s]; " MEET_CLUSTER,
         .cluster = 2),
    FORM("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{inc,dec}.u32|512",
         "t = t~count t~count", 0,
         .body = "st.shared.$w [$s], $a; " ACROSS "$f [there], $b, [at]; " AWAIT_ACROSS
                 "ld.shared.$w $d, [$s]; " MEET_CLUSTER,
         .cluster = 2),
    FORM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes|2048", "2b64 = 2b64", 0,
         .body = ACROSS "$f [$s], [$n], 16, [bar]; " AWAIT_ACROSS
                        "ld.shared.v2.b64 $d, [$s]; " MEET_CLUSTER,
         .cluster = 2),
    FORM(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster|2048",
        "2b64 = 2b64", 0,
        .body = ".reg .b16 both; .reg .pred sends; mov.b16 both, 3; " ACROSS
                "setp.eq.u32 sends, rank, 1; @sends $f [$s], [$n], 16, [bar], both; " AWAIT_ACROSS
                "ld.shared.v2.b64 $d, [$s]; " MEET_CLUSTER,
        .cluster = 2),
    FORM("cp.async.bulk.global.shared::cta.bulk_group", "2b64 = 2b64 2b64", 0,
         .body = REDUCE("v2.b64")),
    FORM("cp.async.bulk.prefetch.L2.global", "b64 = b64 b64", 0,
         .body = "$f [$n], 16; mov.b64 $d, $a;"),
    FORM("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes|2048",
         "2b64 = 2b64", 0,
         .body = SEND_ACROSS "st.shared.v2.b64 [from], $a; " ACROSS
                             "$f [there], [from], 16, [at]; " AWAIT_ACROSS
                             "ld.shared.v2.b64 $d, [$s]; " MEET_CLUSTER,
         .cluster = 2),
    FORM("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes."
         "{add.u32,add.s32,min.u32,max.u32,min.s32,max.s32,and.b32,or.b32,xor.b32}|2048",
         "4t = 4t 4t", 0,
         .body = SEND_ACROSS "st.shared.v4.b32 [$s], $a; st.shared.v4.b32 [from], $b; " ACROSS
                             "$f [there], [from], 16, [at]; " AWAIT_ACROSS
                             "ld.shared.v4.b32 $d, [$s]; " MEET_CLUSTER,
         .cluster = 2),
    FORM("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes."
         "{inc,dec}.u32|2048",
         "4t = 4t~count 4t~count", 0,
         .body = SEND_ACROSS "st.shared.v4.b32 [$s], $a; st.shared.v4.b32 [from], $b; " ACROSS
                             "$f [there], [from], 16, [at]; " AWAIT_ACROSS
                             "ld.shared.v4.b32 $d, [$s]; " MEET_CLUSTER,
         .cluster = 2),
    FORM("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u64|"
         "2048",
         "2t = 2t 2t", 0,
         .body = SEND_ACROSS "st.shared.v2.b64 [$s], $a; st.shared.v2.b64 [from], $b; " ACROSS
                             "$f [there], [from], 16, [at]; " AWAIT_ACROSS
                             "ld.shared.v2.b64 $d, [$s]; " MEET_CLUSTER,
         .cluster = 2),
    FORM("cp.reduce.async.bulk.global.shared::cta.bulk_group.{add,min,max}.{u32,s32}", "4t = 4t 4t",
         0, .body = REDUCE("v4.b32")),
    FORM("cp.reduce.async.bulk.global.shared::cta.bulk_group.{inc,dec}.u32",
         "4t = 4t~count 4t~count", 0, .body = REDUCE("v4.b32")),
    FORM("cp.reduce.async.bulk.global.shared::cta.bulk_group.{and,or,xor}.b32", "4t = 4t 4t", 0,
         .body = REDUCE("v4.b32")),
    FORM("cp.reduce.async.bulk.global.shared::cta.bulk_group."
         "{add.u64,min.u64,max.u64,min.s64,max.s64,and.b64,or.b64,xor.b64,add.f64}",
         "2t = 2t 2t", 0, .body = REDUCE("v2.b64")),
    FORM("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32", "4t = 4t 4t", 0,
         .body = REDUCE("v4.b32")),
    FORM("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16",
         "4f16x2 = 4f16x2 4f16x2", 0, .body = REDUCE("v4.b32")),
    FORM("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16",
         "4bf16x2 = 4bf16x2 4bf16x2", 0, .body = REDUCE("v4.b32")),
    FORM("cp.reduce.async.bulk.global.shared::cta.bulk_group.{min,max}.f16",
         "4f16x2 = 4f16x2 4f16x2", 0, .body = TAME_ALL("0xfbfffbff") REDUCE("v4.b32")),
    FORM("cp.reduce.async.bulk.global.shared::cta.bulk_group.{min,max}.bf16",
         "4bf16x2 = 4bf16x2 4bf16x2", 0, .body = TAME_ALL("0xff7fff7f") REDUCE("v4.b32")),
    FORM("prefetch{.global,}.{L1,L2}", "b32 = b32", 0, .body = GENERIC "$f [at]; mov.b32 $d, $a;"),
    FORM("prefetchu.L1", "b32 = b32", 0, .body = GENERIC "$f [at]; mov.b32 $d, $a;"),
    FORM("applypriority.global.L2::evict_normal", "b32 = b32", 0,
         .body = "$f [$z], 128; mov.b32 $d, $a;"),
    FORM("discard.global.L2", "b32 = b32", 0, .body = "$f [$z], 128; mov.b32 $d, $a;"),
    FORM("createpolicy.fractional.L2::{evict_last,evict_first}.b64", "2b32 = b64", 0,
         .body =
             ".reg .b64 policy; $f policy, 1.0; ld.global.L2::cache_hint.v2.b32 $d, [$n], policy;"),
    FORM("cvta.global.u64", "b32 = b32", 0,
         .body = ".reg .b64 at; $f at, $m; st.b32 [at], $a; ld.global.b32 $d, [$m];"),
    FORM("cvta.shared.u64", "b32 = b32", 0,
         .body = ".reg .b64 at; cvt.u64.u32 at, $s; $f at, at; st.b32 [at], $a; ld.shared.b32 $d, "
                 "[$s];"),
    FORM("cvta.local.u64", "b32 = b32", 0,
         .body = ".local .b32 own; .reg .b64 at; mov.u64 at, own; $f at, at; st.b32 [at], $a; "
                 "ld.local.b32 $d, [own];"),
    FORM("cvta.to.global.u64", "b32 = b32", 0,
         .body = GENERIC "$f at, at; st.global.b32 [at], $a; ld.global.b32 $d, [$m];"),
    FORM("isspacep.{global,shared,local,const}", "pred pred = b32", 0,
         .body = GENERIC ".reg .b64 own; cvt.u64.u32 own, $s; cvta.shared.u64 own, own; $f $d, at; "
                         "$f $q, own;"),
    FORM("mapa.shared::cluster.u32", "b32 = b32", 0,
         .body = ".reg .b32 there; st.shared.b32 [$s], $a; $f there, $s, 0; "
                 "ld.shared::cluster.b32 $d, [there];"),
    FORM("getctarank.shared::cluster.u32", "b32 = b32", 0,
         .body = ".reg .b32 there; mapa.shared::cluster.u32 there, $s, 0; $f $d, there; "
                 "add.u32 $d, $d, $a;"),
    FORM("getctarank.u64", "b32 = b32", 0,
         .body = ".reg .b64 at; cvt.u64.u32 at, $s; cvta.shared.u64 at, at; $f $d, at; "
                 "add.u32 $d, $d, $a;"),

    /* ---- matrices ---- */
    FORM("ldmatrix.sync.aligned.m8n8.x1{,.trans}.shared.b16", "b32 = 4b32", 0,
         .body = ROWS_IN "$f {$d}, [$s];"),
    FORM("ldmatrix.sync.aligned.m8n8.x2{,.trans}.shared.b16", "2b32 = 4b32", 0,
         .body = ROWS_IN "$f $d, [$s];"),
    FORM("ldmatrix.sync.aligned.m8n8.x4{,.trans}.shared.b16", "4b32 = 4b32", 0,
         .body = ROWS_IN "$f $d, [$s];"),
    FORM("stmatrix.sync.aligned.m8n8.x4{,.trans}.shared.b16", "4b32 = 4b32", 0,
         .body = "$f [$s], $a; bar.warp.sync " MEMBERS "; ld.shared.v4.b32 $d, [$s];"),
    FORM("stmatrix.sync.aligned.m8n8.x2{,.trans}.shared.b16", "4b32 = 4b32 2b32", 0,
         .body = ROWS_IN "$f [$s], $b; bar.warp.sync " MEMBERS "; ld.shared.v4.b32 $d, [$s];"),
    FORM("stmatrix.sync.aligned.m8n8.x1{,.trans}.shared.b16", "4b32 = 4b32 b32", 0,
         .body = ROWS_IN "$f [$s], {$b}; bar.warp.sync " MEMBERS "; ld.shared.v4.b32 $d, [$s];"),
    FORM("movmatrix.sync.aligned.m8n8.trans.b16", "b32 = b32", 0),
    FORM("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
         "4f32 = 2f16x2~matrix f16x2~matrix 4f32~matrix", 0, .body = ONE_B),
    FORM("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
         "4f32 = 4f16x2~matrix 2f16x2~matrix 4f32~matrix", 0),
    FORM("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
         "4f32 = 2bf16x2~matrix bf16x2~matrix 4f32~matrix", 0, .body = ONE_B),
    FORM("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
         "4f32 = 4bf16x2~matrix 2bf16x2~matrix 4f32~matrix", 0),
    FORM("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
         "2f16x2 = 2f16x2~matrix f16x2~matrix 2f16x2~matrix", 0, .body = ONE_B),
    FORM("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
         "2f16x2 = 4f16x2~matrix 2f16x2~matrix 2f16x2~matrix", 0),
    FORM("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
         "4f32 = 2f32~matrix f32~matrix 4f32~matrix", 0, .body = ONE_B),
    FORM("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
         "4f32 = 4f32~matrix 2f32~matrix 4f32~matrix", 0),
    FORM("mma.sync.aligned.m16n8k16.row.col.f32.{e4m3,e5m2}.{e4m3,e5m2}.f32",
         "4f32 = 2b32~fp8 b32~fp8 4f32~matrix", 0, .body = ONE_B),
    FORM("mma.sync.aligned.m16n8k16.row.col.f16.{e4m3,e5m2}.{e4m3,e5m2}.f16",
         "2f16x2 = 2b32~fp8 b32~fp8 2f16x2~matrix", 0, .body = ONE_B),
    FORM("mma.sync.aligned.m16n8k32.row.col.f32.{e4m3,e5m2}.{e4m3,e5m2}.f32",
         "4f32 = 4b32~fp8 2b32~fp8 4f32~matrix", 0),
    FORM("mma.sync.aligned.m16n8k32.row.col.f16.{e4m3,e5m2}.{e4m3,e5m2}.f16",
         "2f16x2 = 4b32~fp8 2b32~fp8 2f16x2~matrix", 0),
    FORM("mma.sync.aligned.m8n8k16.row.col{,.satfinite}.s32.{s8,u8}.{s8,u8}.s32",
         "2s32 = b32 b32 2s32", 0, .body = "$f $d, {$a}, {$b}, $c;"),
    FORM("mma.sync.aligned.m16n8k16.row.col{,.satfinite}.s32.{s8,u8}.{s8,u8}.s32",
         "4s32 = 2b32 b32 4s32", 0, .body = ONE_B),
    FORM("mma.sync.aligned.m16n8k32.row.col{,.satfinite}.s32.{s8,u8}.{s8,u8}.s32",
         "4s32 = 4b32 2b32 4s32", 0),
    FORM("mma.sync.aligned.m8n8k32.row.col{,.satfinite}.s32.{s4,u4}.{s4,u4}.s32",
         "2s32 = b32 b32 2s32", 0, .body = "$f $d, {$a}, {$b}, $c;"),
    FORM("mma.sync.aligned.m16n8k32.row.col{,.satfinite}.s32.{s4,u4}.{s4,u4}.s32",
         "4s32 = 2b32 b32 4s32", 0, .body = ONE_B),
    FORM("mma.sync.aligned.m16n8k64.row.col{,.satfinite}.s32.{s4,u4}.{s4,u4}.s32",
         "4s32 = 4b32 2b32 4s32", 0),
    FORM("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.{and,xor}.popc", "2s32 = b32 b32 2s32", 0,
         .body = "$f $d, {$a}, {$b}, $c;"),
    FORM("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.{and,xor}.popc", "4s32 = 2b32 b32 4s32",
         0, .body = ONE_B),
    FORM("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.{and,xor}.popc", "4s32 = 4b32 2b32 4s32",
         0),
    FORM("mma.sync.aligned.m8n8k4.{row,col}.{row,col}.f32.f16.f16.f32",
         "8f32 = 2f16x2~matrix 2f16x2~matrix 8f32~matrix", 0),
    FORM("mma.sync.aligned.m8n8k4.{row,col}.{row,col}.f32.f16.f16.f16",
         "8f32 = 2f16x2~matrix 2f16x2~matrix 4f16x2~matrix", 0),
    FORM("mma.sync.aligned.m8n8k4.{row,col}.{row,col}.f16.f16.f16.f16",
         "4f16x2 = 2f16x2~matrix 2f16x2~matrix 4f16x2~matrix", 0),
    SPARSE("m16n8k16.row.col.f32.f16.f16.f32|{0,1,2,3}",
           "4f32 = 2f16x2~matrix 2f16x2~matrix 4f32~matrix b32"),
    SPARSE("m16n8k32.row.col.f32.f16.f16.f32|{0,1}",
           "4f32 = 4f16x2~matrix 4f16x2~matrix 4f32~matrix b32"),
    SPARSE("m16n8k16.row.col.f16.f16.f16.f16|{0,3}",
           "2f16x2 = 2f16x2~matrix 2f16x2~matrix 2f16x2~matrix b32"),
    SPARSE("m16n8k32.row.col.f16.f16.f16.f16|{0,1}",
           "2f16x2 = 4f16x2~matrix 4f16x2~matrix 2f16x2~matrix b32"),
    SPARSE("m16n8k16.row.col.f32.bf16.bf16.f32|{0,2}",
           "4f32 = 2bf16x2~matrix 2bf16x2~matrix 4f32~matrix b32"),
    SPARSE("m16n8k32.row.col.f32.bf16.bf16.f32|{0,1}",
           "4f32 = 4bf16x2~matrix 4bf16x2~matrix 4f32~matrix b32"),
    SPARSE_TF32("m16n8k8.row.col.f32.tf32.tf32.f32|{0,1,2,3}",
                "4f32 = 2f32~matrix 2f32~matrix 4f32~matrix b32"),
    SPARSE_TF32("m16n8k16.row.col.f32.tf32.tf32.f32|{0,1}",
                "4f32 = 4f32~matrix 4f32~matrix 4f32~matrix b32"),
    SPARSE("m16n8k64.row.col.f32.{e4m3,e5m2}.{e4m3,e5m2}.f32|0",
           "4f32 = 4b32~fp8 4b32~fp8 4f32~matrix b32"),
    SPARSE("m16n8k32.row.col{,.satfinite}.s32.{s8,u8}.{s8,u8}.s32|{0,1}",
           "4s32 = 2b32 2b32 4s32 b32"),
    SPARSE("m16n8k64.row.col{,.satfinite}.s32.{s8,u8}.{s8,u8}.s32|0", "4s32 = 4b32 4b32 4s32 b32"),
    SPARSE("m16n8k64.row.col{,.satfinite}.s32.{s4,u4}.{s4,u4}.s32|{0,1}",
           "4s32 = 2b32 2b32 4s32 b32"),
    SPARSE("m16n8k128.row.col{,.satfinite}.s32.{s4,u4}.{s4,u4}.s32|0", "4s32 = 4b32 4b32 4s32 b32"),
    FORM("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "2t = t~matrix t~matrix 2t~matrix", 0,
         .body = "$f $d, {$a}, {$b}, $c;"),
    FORM("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", "4t = 2t~matrix t~matrix 4t~matrix", 0,
         .body = ONE_B),
    FORM("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", "4t = 4t~matrix 2t~matrix 4t~matrix",
         0),
    FORM("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", "4t = 8t~matrix 4t~matrix 4t~matrix",
         0),
    FORM("wgmma.mma_async.sync.aligned.m64n8k32.s32{,.satfinite}.{s8,u8}.{s8,u8}",
         "4s32 = 4b32 4b32 4s32", 0, .body = START_4 RIGHT_IN MULTIPLY_WHOLE("$a")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k32.s32.{s8,u8}.{s8,u8}", "4s32 = 4b32 4b32 4s32", 0,
         .body = START_4 RIGHT_IN LEFT_IN MULTIPLY_WHOLE("left")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc", "4s32 = 4b32 4b32 4s32", 0,
         .body = START_4 RIGHT_IN MULTIPLY_WHOLE("$a")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc", "4s32 = 4b32 4b32 4s32", 0,
         .body = START_4 RIGHT_IN LEFT_IN MULTIPLY_WHOLE("left")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32|{1;1,-1;1}",
         "4f32 = 4f32~matrix 4f32~matrix 4f32~matrix", 0, .body = START_4 RIGHT_IN MULTIPLY("$a")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32|{1;1,1;-1}",
         "4f32 = 4f32~matrix 4f32~matrix 4f32~matrix", 0,
         .body = START_4 RIGHT_IN LEFT_IN MULTIPLY("left")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k32.f32.{e4m3,e5m2}.{e4m3,e5m2}|{1;1,-1;1}",
         "4f32 = 4b32~fp8 4b32~fp8 4f32~matrix", 0, .body = START_4 RIGHT_IN MULTIPLY("$a")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k32.f32.{e4m3,e5m2}.{e4m3,e5m2}|{1;1,1;-1}",
         "4f32 = 4b32~fp8 4b32~fp8 4f32~matrix", 0,
         .body = START_4 RIGHT_IN LEFT_IN MULTIPLY("left")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k32.f16.{e4m3,e5m2}.{e4m3,e5m2}|{1;1,-1;1}",
         "2f16x2 = 4b32~fp8 4b32~fp8 2f16x2~matrix", 0, .body = START_2 RIGHT_IN MULTIPLY("$a")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k32.f16.{e4m3,e5m2}.{e4m3,e5m2}|{1;1,1;-1}",
         "2f16x2 = 4b32~fp8 4b32~fp8 2f16x2~matrix", 0,
         .body = START_2 RIGHT_IN LEFT_IN MULTIPLY("left")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16|{1;1;0,-1;1;0}",
         "4f32 = 4f16x2~matrix 4f16x2~matrix 4f32~matrix", 0,
         .body = START_4 RIGHT_IN MULTIPLY("$a")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16|{1;1;0;0,1;-1;0;0,1;1;1;0,1;1;0;1}",
         "4f32 = 4f16x2~matrix 4f16x2~matrix 4f32~matrix", 0,
         .body = START_4 RIGHT_IN LEFT_IN MULTIPLY("left")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16|{1;1;0,-1;1;0}",
         "4f32 = 4bf16x2~matrix 4bf16x2~matrix 4f32~matrix", 0,
         .body = START_4 RIGHT_IN MULTIPLY("$a")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16|{1;1;0;0,1;-1;0;0,1;1;1;0,1;1;0;1}",
         "4f32 = 4bf16x2~matrix 4bf16x2~matrix 4f32~matrix", 0,
         .body = START_4 RIGHT_IN LEFT_IN MULTIPLY("left")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16|{1;1;0,-1;1;0}",
         "2f16x2 = 4f16x2~matrix 4f16x2~matrix 2f16x2~matrix", 0,
         .body = START_2 RIGHT_IN MULTIPLY("$a")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16|{1;1;0;0,1;-1;0;0,1;1;1;0,1;1;0;1}",
         "2f16x2 = 4f16x2~matrix 4f16x2~matrix 2f16x2~matrix", 0,
         .body = START_2 RIGHT_IN LEFT_IN MULTIPLY("left")),
    FORM("wgmma.mma_async.sp.sync.aligned.m64n8k64.s32{,.satfinite}.{s8,u8}.{s8,u8}",
         "4s32 = 4b32 4b32 4s32 b32~pairs", 0,
         .body = START_4 RIGHT_IN_2 MULTIPLY_SPARSE_WHOLE("$a")),
    FORM("wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.{s8,u8}.{s8,u8}",
         "4s32 = 4b32 4b32 4s32 b32~picks", 0,
         .body = START_4 RIGHT_IN_2 LEFT_IN MULTIPLY_SPARSE_WHOLE("left")),
    FORM("wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32|{1;1,-1;1}",
         "4f32 = 4f32~matrix 4f32~matrix 4f32~matrix b32~halves", 0,
         .body = START_4 RIGHT_IN_2 MULTIPLY_SPARSE("$a", "1")),
    FORM("wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32|{1;1,1;-1}",
         "4f32 = 4f32~matrix 4f32~matrix 4f32~matrix b32~halves", 0,
         .body = START_4 RIGHT_IN_2 LEFT_IN MULTIPLY_SPARSE("left", "0")),
    FORM("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16|{1;1;0,-1;1;0,1;1;1}",
         "4f32 = 4f16x2~matrix 4f16x2~matrix 4f32~matrix b32~pairs", 0,
         .body = START_4 RIGHT_IN_2 MULTIPLY_SPARSE("$a", "0")),
    FORM("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16|{1;1;0;0,1;-1;0;0,1;1;1;0,1;1;0;1}",
         "4f32 = 4f16x2~matrix 4f16x2~matrix 4f32~matrix b32~pairs", 0,
         .body = START_4 RIGHT_IN_2 LEFT_IN MULTIPLY_SPARSE("left", "1")),
    FORM("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16|{1;1;0,-1;1;0}",
         "4f32 = 4bf16x2~matrix 4bf16x2~matrix 4f32~matrix b32~picks", 0,
         .body = START_4 RIGHT_IN_2 MULTIPLY_SPARSE("$a", "1")),
    FORM("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16|{1;1;0;0,1;1;0;1}",
         "4f32 = 4bf16x2~matrix 4bf16x2~matrix 4f32~matrix b32~pairs", 0,
         .body = START_4 RIGHT_IN_2 LEFT_IN MULTIPLY_SPARSE("left", "0")),
    FORM("wgmma.mma_async.sp.sync.aligned.m64n8k32.f16.f16.f16|{1;1;0,-1;1;0}",
         "2f16x2 = 4f16x2~matrix 4f16x2~matrix 2f16x2~matrix b32~pairs", 0,
         .body = START_2 RIGHT_IN_2 MULTIPLY_SPARSE("$a", "0")),
    FORM("wgmma.mma_async.sp.sync.aligned.m64n8k32.f16.f16.f16|{1;1;0;0,1;1;1;1}",
         "2f16x2 = 4f16x2~matrix 4f16x2~matrix 2f16x2~matrix b32~pairs", 0,
         .body = START_2 RIGHT_IN_2 LEFT_IN MULTIPLY_SPARSE("left", "1")),
    FORM("wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.{e4m3,e5m2}.{e4m3,e5m2}|{1;1}",
         "4f32 = 4b32~fp8 4b32~fp8 4f32~matrix b32~pairs", 0,
         .body = START_4 RIGHT_IN_2 MULTIPLY_SPARSE("$a", "0")),
    FORM("wgmma.mma_async.sp.sync.aligned.m64n8k64.f16.{e4m3,e5m2}.{e4m3,e5m2}|{1;1}",
         "2f16x2 = 4b32~fp8 4b32~fp8 2f16x2~matrix b32~pairs", 0,
         .body = START_2 RIGHT_IN_2 LEFT_IN MULTIPLY_SPARSE("left", "0")),
};
enum { FORM_ROWS = sizeof form_rows / sizeof *form_rows };

#endif
