/*
 * decode: translates statements to instructions. Names become register offsets, labels become
 * instruction indices, and calls are inlined, so that lanes that diverge inside a function
 * reconverge as usual. Calls through pointers and recursive calls are not inlined: they call
 * routines, whose code follows the kernel's.
 *
 * opcodes.c has the table of opcodes and their decode functions. A decode function reads the
 * opcode's modifiers with the take_ functions and its operands with the operand functions, and
 * appends instructions with emit. A modifier that no function took is an error, as is an undeclared
 * name.
 *
 * Functions return -1 after decode_fail. Those that return a place return 0 and do nothing more
 * after it, so that a decode function reads all its operands and ends with `return
 * emit_instruction(...)`.
 */
#ifndef EVOTILE_PTX_DECODE_H
#define EVOTILE_PTX_DECODE_H

#include "ptx/arena.h"
#include "ptx/ast.h"
#include "ptx/machine.h"

enum {
    PARTS_MAX = 24, /* dot-separated parts of an opcode */
    CALL_DEPTH_MAX = 16,
    CODE_MAX = 1 << 19,       /* instructions of a kernel */
    RESULTS_MAX = 32,         /* registers that a statement writes, of which decode keeps account */
    STATEMENTS_MAX = 1 << 21, /* decoded for one kernel, including inlined calls */
    REGISTER_BYTES_MAX = 64 << 20, /* of a warp */
};

enum binding_kind { BINDING_REGISTER, BINDING_VARIABLE, BINDING_BRANCH_TARGETS };

/* A constant broadcast to all lanes. The size is a multiple of 64 bytes for aligned vector loads.
 */
struct constant_slot {
    uint8_t lanes[256];
    uint64_t bits;
    int bytes; /* per lane */
    uint8_t padding[52];
};

/* What a name is bound to in a scope. */
struct binding {
    enum binding_kind kind;
    int name, scope, next;  /* next: the next binding of the same name, or -1 */
    uint32_t place;         /* REGISTER */
    int bytes;              /* REGISTER: 0 for a predicate */
    enum state_space space; /* VARIABLE */
    uint64_t offset;        /* address within the space */
    bool in_frame;          /* of a routine: relative to its stack frame */
    const struct variable *variable;
    const struct statement *targets; /* TARGETS */
};

/* A pair of braces, or the body of an inlined call. */
struct scope {
    int parent;      /* -1 for the outermost scope of a kernel or function */
    int instance;    /* the inlined call it belongs to */
    int first_range; /* number of register ranges when the scope opened */
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

/* A forward reference: a jump whose label is resolved at the end of the function. */
struct jump {
    uint32_t instruction; /* index in `code`, or in `targets` if in_table */
    bool in_table;
    int name, scope, location, line;
};

struct decoder {
    struct ptx_module *module;
    const struct ast *ast;
    struct kernel *kernel;
    struct error *error;

    struct instruction *code;
    int code_count;
    uint32_t *operands;
    uint32_t
        *operand_starts; /* first operand of each instruction, while `operands` may still move */
    int operand_count;
    uint32_t *targets;
    int target_count;
    struct constant_slot *constants;
    int constant_count;
    int constant_table[1024]; /* hash of a value -> the slot that held it last, or -1 */
    uint32_t register_bytes;
    uint32_t carry; /* the register for the carry flag (.cc), if has_carry */
    bool has_carry;
    struct special_register_slot *specials;
    int special_count;

    int *binding_of_name; /* head of each name's list of bindings */
    int *label_of_name;
    struct binding *bindings;
    int binding_count;
    struct scope *scopes;
    int scope_count, scope;
    struct register_range *ranges;
    int range_count;
    struct label *labels;
    int label_count;
    struct jump *jumps;
    int jump_count;
    int instance, instance_count, depth, statement_count;
    int *returns; /* `ret` jumps of the function that is being inlined */
    int return_count;
    bool in_function;
    const struct function *inlining[CALL_DEPTH_MAX + 1]; /* call stack of inlined functions */
    int routine;                                         /* the routine being decoded, or -1 */
    uint64_t frame_bytes;                                /* size of the routine's frame so far */
    struct shared_variable {
        const struct variable *variable;
        uint32_t offset;
    } * shared;
    int shared_count;
    uint64_t shared_bytes, local_bytes;

    /* The current statement. */
    const struct statement *statement;
    struct slice parts[PARTS_MAX];
    bool taken[PARTS_MAX];
    int part_count;
    struct widening {
        uint32_t from, to; /* register offsets */
        int from_bytes, to_bytes;
        bool is_signed;
    } widenings[8]; /* results to extend to wider registers after the instruction */
    int widening_count;
    uint32_t destinations[RESULTS_MAX]; /* places that instructions of the statement write */
    int destination_count;
    bool moves; /* the statement is a mov */
};

/* Decodes a kernel. What cannot be decoded faults when it is executed; kernel->info.error then
   holds the first reason. */
void decode_kernel(struct ptx_module *module, struct kernel *kernel,
                   const struct function *function);

int decode_fail(struct decoder *decoder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- Modifiers: parts of the opcode after the first ---- */

bool take_modifier(struct decoder *decoder, const char *modifier);
/* Takes the first part that is in a NULL-terminated list; returns its index in the list, or -1. */
int take_modifier_of(struct decoder *decoder, const char *const *modifiers);
/* Takes .cta, .cluster, .gpu or .sys; the device without them. */
enum memory_scope take_scope(struct decoder *decoder);
/* Takes all parts that begin with `prefix`. */
void take_modifiers_with_prefix(struct decoder *decoder, const char *prefix);
/* Takes the next type; TYPE_NONE if there is none. */
enum type take_type(struct decoder *decoder);
/* Takes a state space, .shared, .global ...; returns `otherwise` if none is given. */
enum state_space take_space(struct decoder *decoder, enum state_space otherwise);
/* Takes .rn .rz .rm .rp and .ftz; FLOAT_NEAREST without them. */
uint8_t take_float_mode(struct decoder *decoder);
/* Takes the remaining parts and returns them joined to the opcode: mul.wide. */
struct slice take_remaining_modifiers(struct decoder *decoder);

/* ---- Operands ---- */

/* Returns the statement's index-th operand, or NULL. */
const struct operand *operand_at(struct decoder *decoder, int index);
int expect_operands(struct decoder *decoder, int least, int most);
/* Returns the register offset from which to read `bytes` per lane (0: a predicate). Narrows wider
   registers. */
uint32_t decode_source(struct decoder *decoder, const struct operand *operand, enum type type,
                       int bytes);
uint32_t decode_predicate(struct decoder *decoder, const struct operand *operand, bool *negated);
/* Returns the register offset to write to. A wider register is written afterwards, sign-extended if
   `is_signed`. */
uint32_t decode_destination(struct decoder *decoder, const struct operand *operand, int bytes,
                            bool is_signed);
/* The first operand as a destination d, or d|p with a predicate: returns whether it has one. */
bool decode_destination_pair(struct decoder *decoder, int bytes, uint32_t places[2]);
/* Fills the register offsets of the two halves of a .b128 register, 8 bytes per lane each, the
   lower first. */
void decode_b128_register(struct decoder *decoder, const struct operand *operand,
                          uint32_t halves[2]);
/* Decodes base, offset and space of [address]; returns the register of the base. */
uint32_t decode_address(struct decoder *decoder, const struct operand *operand,
                        struct access *access);
/* Returns the elements of an operand that is a vector of `count`, or a scalar if that is 1; NULL
   after decode_fail. */
const struct operand *vector_elements(struct decoder *decoder, const struct operand *operand,
                                      int count);
/* Reads the only operand of a wait: how many groups may remain pending. */
int decode_group_count(struct decoder *decoder);
/* Returns what the operand's name is bound to, or NULL. */
const struct binding *lookup_operand(struct decoder *decoder, const struct operand *operand);
/* Looks up a name in the current scope; allocates a register of a range on first use. Returns NULL
   if the name is undeclared. */
struct binding *lookup_name(struct decoder *decoder, int name);
uint32_t allocate_register(struct decoder *decoder, int bytes);
/* Returns the register offset of a constant broadcast to all lanes. */
uint32_t allocate_constant(struct decoder *decoder, uint64_t bits, int bytes);

/* ---- Scopes and names: decode_symbols.c ---- */

void open_scope(struct decoder *decoder, int parent);
/* Removes the bindings of the current scope and returns to `back_to`. */
void close_scope(struct decoder *decoder, int back_to);
struct binding *bind_name(struct decoder *decoder, int name, int scope);
int declare_registers(struct decoder *decoder, const struct variable *variable);
int declare_variable(struct decoder *decoder, const struct variable *variable);
/* Returns the register that holds a special register's value at the start of a warp. */
uint32_t special_register_place(struct decoder *decoder, enum special_register which, int bytes);
/* Allocates a variable after `*used` bytes, which it advances; returns the aligned offset. */
uint64_t allocate_variable(uint64_t *used, const struct variable *variable);

/* ---- Code ---- */

/* Decodes all statements of a function; resolve_jumps then resolves the labels of the jumps from
   index `first` on. */
int decode_statements(struct decoder *decoder, const struct function *function);
int resolve_jumps(struct decoder *decoder, int first);
/* An instruction that does not depend on the float mode; its other fields are zero. */
static inline struct instruction new_instruction(execute_function execute) {
    return (struct instruction){.execute = execute, .float_mode = FLOAT_ANY};
}
/* Appends an instruction and its operands, with the statement's guard predicate. Returns -1 if
   decode_fail was called before. */
int emit_instruction(struct decoder *decoder, const struct instruction *instruction,
                     const uint32_t *places, int count);
/* Tells emit_instruction that the statement writes a register; the operand functions do. */
void add_destination(struct decoder *decoder, uint32_t place);
/* Appends the lane operation (lanes.h) of that name; the first place is the result's. */
void emit_lane_operation(struct decoder *decoder, const char *name, enum type type,
                         const uint32_t *places);
/* Extends the statement's results that are narrower than their registers. */
void emit_widenings(struct decoder *decoder);
/* Appends a jump to a label. */
int emit_jump(struct decoder *decoder, int name);
/* Inlines a call, or emits a call of a routine. */
int inline_call(struct decoder *decoder);
/* Decodes the bodies of all routines that are called. */
int decode_routines(struct decoder *decoder);

/* opcodes.c: decodes decoder->statement. */
int decode_instruction(struct decoder *decoder);

#endif
