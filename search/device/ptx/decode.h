/*
 * decode: from statements to instructions. Names become places, labels become positions, calls are
 * expanded where they stand (so that lanes which part inside a function meet again as everywhere),
 * but for those through pointers and of functions that are being expanded: these call routines,
 * whose code stands behind the kernel's.
 *
 * opcodes.c has the table of opcodes and a function for each kind of them; it reads the opcode's
 * modifiers with the take_ functions, its operands with the operand functions and adds instructions
 * with emit. A modifier that nobody took is an error, as is a name that nobody declared.
 *
 * Functions return -1 after decode_fail.
 */
#ifndef EVOTILE_DEVICE_PTX_DECODE_H
#define EVOTILE_DEVICE_PTX_DECODE_H

#include "device/ptx/arena.h"
#include "device/ptx/ast.h"
#include "device/ptx/machine.h"

enum {
    PARTS_MAX = 24, /* of an opcode between its dots */
    CALL_DEPTH_MAX = 16,
    CODE_MAX = 1 << 19,            /* instructions of a kernel */
    STATEMENTS_MAX = 1 << 21,      /* decoded for one kernel, calls expanded */
    REGISTER_BYTES_MAX = 64 << 20, /* of a warp */
};

enum binding_kind { BINDING_REGISTER, BINDING_VARIABLE, BINDING_TARGETS };

/* Equal values for all lanes; as a whole a multiple of 64 bytes, as vectors like it. */
struct constant_slot {
    uint8_t lanes[256];
    uint64_t bits;
    int bytes; /* of a lane */
    uint8_t padding[52];
};

/* What a name stands for in a scope. */
struct binding {
    enum binding_kind kind;
    int name, scope, next; /* next of the same name, or -1 */
    uint32_t place;        /* REGISTER */
    int bytes;             /* REGISTER: 0 is a predicate */
    enum space space;      /* VARIABLE */
    uint64_t address;
    bool in_frame; /* of a routine: the address is an offset in it */
    const struct variable *variable;
    const struct statement *targets; /* TARGETS */
};

/* A pair of braces, or the body of a call. */
struct scope {
    int parent;      /* -1 for a kernel's or function's outermost */
    int instance;    /* which expansion of a function it belongs to */
    int first_range; /* of the register ranges, when it opened */
    int first_binding;
};

struct register_range {
    struct slice prefix;
    int count, bytes, scope;
};

struct label {
    int name, scope, next;
    uint32_t position;
};

/* A jump whose target is not known before the end. */
struct jump {
    uint32_t instruction; /* or an index of targets */
    bool in_table;
    int name, scope, location, line;
};

struct decoder {
    struct ptx_module *module;
    const struct ast *ast;
    struct kernel *kernel;
    struct error *error;

    struct instruction *code;
    int code_count, code_capacity;
    uint32_t *operands;
    uint32_t *operand_starts; /* of each instruction, until operands stay where they are */
    int operand_count, operand_capacity, start_capacity;
    uint32_t *targets;
    int target_count, target_capacity;
    struct constant_slot *constants;
    int constant_count, constant_capacity;
    int constant_table[1024]; /* by a hash of the value: the slot that had it last, or -1 */
    uint32_t register_bytes;
    uint32_t carry; /* the register that .cc writes, where there is one */
    bool has_carry;
    struct special_slot *specials;
    int special_count, special_capacity;

    int *binding_of_name; /* heads, by name */
    int *label_of_name;
    struct binding *bindings;
    int binding_count, binding_capacity;
    struct scope *scopes;
    int scope_count, scope_capacity, scope;
    struct register_range *ranges;
    int range_count, range_capacity;
    struct label *labels;
    int label_count, label_capacity;
    struct jump *jumps;
    int jump_count, jump_capacity;
    int instance, instance_count, depth, statement_count;
    int *returns; /* jumps out of the function that is being expanded */
    int return_count, return_capacity;
    bool in_function;
    const struct function *expanding[CALL_DEPTH_MAX + 1]; /* by depth */
    int routine;                                          /* that is being decoded; -1: none */
    int routine_capacity;
    uint64_t frame_bytes; /* of its variables so far */
    struct shared_variable {
        const struct variable *variable;
        uint32_t offset;
    } * shared;
    int shared_count, shared_capacity;
    uint64_t shared_bytes, local_bytes;

    /* Of the statement that is being decoded. */
    const struct statement *statement;
    struct slice parts[PARTS_MAX];
    bool taken[PARTS_MAX];
    int part_count;
    struct {
        uint32_t from, to; /* places */
        int from_bytes, to_bytes;
        bool is_signed;
    } widenings[8]; /* results that go to wider registers, after the instruction */
    int widening_count;
};

/* Decodes a kernel; on failure kernel->visible.error says why, and the kernel has no code. */
void decode_kernel(struct ptx_module *module, struct kernel *kernel,
                   const struct function *function);

int decode_fail(struct decoder *decoder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- Modifiers: parts of the opcode after the first ---- */

bool take(struct decoder *decoder, const char *modifier);
/* Takes the first part that is one of a NULL-terminated list; its index, or -1. */
int take_one_of(struct decoder *decoder, const char *const *modifiers);
/* Takes all parts that begin like this. */
void take_prefix(struct decoder *decoder, const char *prefix);
/* The first type that is not taken; TYPE_NONE if there is none. */
enum type take_type(struct decoder *decoder);
/* .shared, .global ...; `otherwise` if none is given. */
enum space take_space(struct decoder *decoder, enum space otherwise);
/* .rn .rz .rm .rp and .ftz; FLOAT_NEAREST without them. */
uint8_t take_float_mode(struct decoder *decoder);
/* Joins what is not taken, with the opcode in front: mul.wide; takes it. */
struct slice take_rest(struct decoder *decoder);

/* ---- Operands ---- */

/* The statement's index-th operand; NULL if there are fewer. */
const struct operand *operand_at(struct decoder *decoder, int index);
int expect_operands(struct decoder *decoder, int least, int most);
/* The place to read `bytes` (0: a predicate) a lane from; narrows wider registers. */
int source(struct decoder *decoder, const struct operand *operand, enum type type, int bytes,
           uint32_t *place);
int predicate_source(struct decoder *decoder, const struct operand *operand, bool *negated,
                     uint32_t *place);
/* The place to write to; a wider register is filled afterwards, extended as `is_signed`. */
int destination(struct decoder *decoder, const struct operand *operand, int bytes, bool is_signed,
                uint32_t *place);
/* The places of the halves of a .b128 register, 8 bytes a lane each, the lower first. */
int wide_register(struct decoder *decoder, const struct operand *operand, uint32_t halves[2]);
/* The base, offset and space of [address]; `*base` is undefined where access->base_bytes is 0. */
int address(struct decoder *decoder, const struct operand *operand, struct access *access,
            uint32_t *base);
/* What a name stands for here; declares registers of ranges when they are first used. NULL:
 * nothing. */
struct binding *lookup(struct decoder *decoder, int name);
uint32_t new_register(struct decoder *decoder, int bytes);
/* A place whose lanes all hold the value. */
uint32_t constant(struct decoder *decoder, uint64_t bits, int bytes);

/* ---- Scopes and names: decode_names.c ---- */

void open_scope(struct decoder *decoder, int parent);
/* Forgets the names of the scope. */
void close_scope(struct decoder *decoder, int back_to);
struct binding *bind_name(struct decoder *decoder, int name, int scope);
int declare_registers(struct decoder *decoder, const struct variable *variable);
int bind_variable(struct decoder *decoder, const struct variable *variable);
/* The register that a warp starts with. */
uint32_t special_slot(struct decoder *decoder, enum special_register which, int bytes);
/* The offset of a variable behind `*used` bytes, which grow. */
uint64_t place_variable(uint64_t *used, const struct variable *variable);

/* ---- Code ---- */

/* All statements of a function; the jumps from the first-th on find their labels afterwards. */
int decode_statements(struct decoder *decoder, const struct function *function);
int resolve_jumps(struct decoder *decoder, int first);
/* Adds an instruction with its operands, guarded as the statement is. */
struct instruction *emit(struct decoder *decoder, const struct instruction *instruction,
                         const uint32_t *places, int count);
/* A jump to a label. */
int emit_jump(struct decoder *decoder, int name);
/* Expands `call`, or has a routine called. */
int expand_call(struct decoder *decoder);
/* The bodies of the routines that are called. */
int decode_routines(struct decoder *decoder);

/* opcodes.c: the statement in decoder->statement. */
int decode_instruction(struct decoder *decoder);

#endif
