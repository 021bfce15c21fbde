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
 * bytes of global memory, $s of 16 bytes of shared memory, $z of memory that nobody reads; $w b16,
 * b32 or b64, as wide as t. `least`: a result below it is measured with it.
 */
#ifndef EVOTILE_TESTS_DEVICE_PTX_FORMS_TABLE_H
#define EVOTILE_TESTS_DEVICE_PTX_FORMS_TABLE_H

#include <stdbool.h>

struct form_row {
    const char *pattern, *groups;
    double ulps;
    const char *body;
    double least;
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

/* Operands a and b go to the memory that the form reads. */
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
/* The lanes of a warp meet in the first one's bytes, `at` before their own. */
#define TOGETHER                                                                                   \
    ".reg .b32 at; .reg .pred first; mov.u32 at, %laneid; setp.eq.u32 first, at, 0; "              \
    "shl.b32 at, at, 4; "
#define MEET "bar.warp.sync " MEMBERS "; "
/* b, of the first 16 threads, is the right matrix; `to` describes it. */
#define RIGHT_IN                                                                                   \
    ".shared .align 128 .b8 right[256]; .reg .b32 at, it; .reg .b64 to, left; .reg .pred yes; "    \
    "mov.u32 at, right; mov.u32 it, own; sub.u32 it, $s, it; add.u32 at, at, it; "                 \
    "setp.lt.u32 yes, it, 256; @yes st.shared.v4.b32 [at], $b; setp.eq.u32 yes, it, it; "          \
    "mov.u32 at, right; shr.u32 at, at, 4; cvt.u64.u32 to, at; or.b64 to, to, 0x1000080000; "
#define MULTIPLY(left)                                                                             \
    "fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned; "                                    \
    "$f $d, " left ", to, yes, $x; wgmma.commit_group.sync.aligned; "                              \
    "wgmma.wait_group.sync.aligned 0;"
#define MULTIPLY_BYTES(left)                                                                       \
    "fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned; "                                    \
    "$f $d, " left ", to, yes; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
#define LEFT_IN                                                                                    \
    "st.shared.v4.b32 [$s], $a; mov.u32 at, own; shr.u32 at, at, 4; cvt.u64.u32 left, at; "        \
    "or.b64 left, left, 0x1000080000; "
#define START_4 "mov.b32 %d0, %c0; mov.b32 %d1, %c1; mov.b32 %d2, %c2; mov.b32 %d3, %c3; "
#define START_2 "mov.b32 %d0, %c0; mov.b32 %d1, %c1; "
/* From c, below 4, a carry; and it as a number. */
#define CARRY_IN ".reg .u32 it; add.cc.u32 it, $c, 0xfffffffe; "
#define CARRY    "addc.$u $q, 0, 0;"
#define ONE_B    "$f $d, $a, {$b}, $c;"
#define ROWS_IN  "st.shared.v4.b32 [$s], $a; bar.warp.sync " MEMBERS "; "

/* A copy to the thread's bytes, and an mbarrier behind them. */
#define TRACKED                                                                                    \
    ".reg .b32 at; .reg .pred came; add.u32 at, $s, 8; mbarrier.init.shared.b64 [at], 1; "         \
    "cp.async.ca.shared.global [$s], [$n], 8; "
#define AWAIT_TRACKED                                                                              \
    "AGAIN: mbarrier.try_wait.parity.shared.b64 came, [at], 0; @!came bra AGAIN; "                 \
    "ld.shared.b64 $d, [$s]; mbarrier.inval.shared.b64 [at];"

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
    FORM("sad.{u32,s32}", "t = t t t", 0),
    FORM("{div,rem}." WORDS, "t = t t", 0),
    FORM("{abs,neg}.{s16,s32,s64}", "t = t", 0),
    FORM("{min,max}." WORDS, "t = t t", 0),
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
    FORM("bfind.{u32,s32,u64,s64}", "b32 = t", 0),
    FORM("bfind.shiftamt.{u32,u64}", "b32 = t", 0),
    FORM("selp.{b16,b32,b64,u16,s16,u32,s32,u64,s64,f32,f64}", "t = t t pred", 0),
    FORM("slct.{b32,u32,s32,f32}.s32", "d = d d t", 0),
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
    FORM("{min,max}{,.ftz}{,.NaN}.f32", "t = t t", 0),
    FORM("{min,max}.f64", "t = t t", 0),
    FORM("{abs,neg}{,.ftz}.f32", "t = t", 0),
    FORM("{abs,neg}.f64", "t = t", 0),
    FORM("copysign.{f32,f64}", "t = t t", 0),
    /* div.approx is defined for divisors up to 2^126. */
    FORM("div.approx{,.ftz}.f32", "t = t t~ordinary", 2),
    FORM("div.full{,.ftz}.f32", "t = t t", 2),
    FORM("{rcp,sqrt,rsqrt}.approx{,.ftz}.f32", "t = t", 2),
    FORM("{rcp,rsqrt}.approx.ftz.f64", "t = t", 0x1p32), /* of the upper half, one */
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
    FORM("{min,max}{,.NaN}.{f16,f16x2,bf16,bf16x2}", "t = t t", 0),
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
    FORM("cvt.rna.tf32.f32", "b32 = t", 0),
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
    FORM("mma.sync.aligned.m8n8k16.row.col{,.satfinite}.s32.{s8,u8}.{s8,u8}.s32",
         "2s32 = b32 b32 2s32", 0, .body = "$f $d, {$a}, {$b}, $c;"),
    FORM("mma.sync.aligned.m16n8k16.row.col{,.satfinite}.s32.{s8,u8}.{s8,u8}.s32",
         "4s32 = 2b32 b32 4s32", 0, .body = ONE_B),
    FORM("mma.sync.aligned.m16n8k32.row.col{,.satfinite}.s32.{s8,u8}.{s8,u8}.s32",
         "4s32 = 4b32 2b32 4s32", 0),
    FORM("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "2t = t~matrix t~matrix 2t~matrix", 0,
         .body = "$f $d, {$a}, {$b}, $c;"),
    FORM("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", "4t = 2t~matrix t~matrix 4t~matrix", 0,
         .body = ONE_B),
    FORM("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", "4t = 4t~matrix 2t~matrix 4t~matrix",
         0),
    FORM("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", "4t = 8t~matrix 4t~matrix 4t~matrix",
         0),
    FORM("wgmma.mma_async.sync.aligned.m64n8k32.s32{,.satfinite}.{s8,u8}.{s8,u8}",
         "4s32 = 4b32 4b32 4s32", 0, .body = START_4 RIGHT_IN MULTIPLY_BYTES("$a")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k32.s32.{s8,u8}.{s8,u8}", "4s32 = 4b32 4b32 4s32", 0,
         .body = START_4 RIGHT_IN LEFT_IN MULTIPLY_BYTES("left")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32|{1;1,-1;1}",
         "4f32 = 4f32~matrix 4f32~matrix 4f32~matrix", 0, .body = START_4 RIGHT_IN MULTIPLY("$a")),
    FORM("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32|{1;1,1;-1}",
         "4f32 = 4f32~matrix 4f32~matrix 4f32~matrix", 0,
         .body = START_4 RIGHT_IN LEFT_IN MULTIPLY("left")),
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
};
enum { FORM_ROWS = sizeof form_rows / sizeof *form_rows };

#endif
