/*
 * libevotile_wisdom: launches the kernels of a wisdom file, as `evotile wisdom pack` writes it. A
 * program names a template, its dimensions and its tensors; the file says which kernel serves which
 * shape on which device. A better file, from later tuning, makes the same program faster: nothing
 * is built again. The library needs libc and, to launch, the CUDA driver, which it opens itself.
 *
 *     static const char *const dimensions[] = {"ROWS", "COLS", NULL};
 *     static const char *const tensors[] = {"x", "y", NULL};
 *     const struct evotile_wisdom_names names = {"row_scale", dimensions, tensors, NULL};
 *     struct evotile_wisdom *wisdom;
 *     struct evotile_wisdom_device device;
 *     struct evotile_wisdom_kernel *kernel;
 *     struct evotile_wisdom_choice choice;
 *     struct evotile_wisdom_message message;
 *     if (evotile_wisdom_load(&wisdom, "app.wisdom", &message) != 0 ||
 *         evotile_wisdom_this_device(&device, &message) != 0 ||
 *         evotile_wisdom_open(&kernel, wisdom, &names, &device, &message) != 0)
 *         return complain(message.text);
 *     if (evotile_wisdom_pick(kernel, shape, 0, &choice) == 0)         // 10 to 30 ns
 *         status = evotile_wisdom_launch(&choice, &call);
 *     evotile_wisdom_close(kernel);
 *     evotile_wisdom_free(wisdom);
 *
 * Functions return 0; a status below 0 of enum evotile_wisdom_status; or a CUresult above 0. Any
 * number of threads may pick and launch with one kernel at the same time. It is closed when no
 * launch of its is running any more, and before its wisdom is freed.
 *
 * Nothing in the file is trusted: what does not hold is refused in one line. Its index is checked
 * when it is loaded, the launch programs of a template when that is opened, and machine code before
 * the driver gets it, each against a BLAKE2b digest. A digest shows damage; that the file comes
 * from the holder of a key, only its signature shows (FILE.minisig: `minisign -V`).
 *
 * The file is mapped: replace it by renaming another one into its place, as `evotile wisdom pack`
 * does, and never write into it.
 */
#ifndef EVOTILE_WISDOM_H
#define EVOTILE_WISDOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define EVOTILE_WISDOM_API __attribute__((visibility("default")))
#else
#define EVOTILE_WISDOM_API
#endif

enum evotile_wisdom_status {
    EVOTILE_WISDOM_OK = 0,
    EVOTILE_WISDOM_BAD_FILE = -1, /* it cannot be read, or is no whole wisdom file */
    EVOTILE_WISDOM_NO_TEMPLATE =
        -2,                         /* none of this name, or not with these dimensions or tensors */
    EVOTILE_WISDOM_NO_DEVICE = -3,  /* none of its kernels runs on this device */
    EVOTILE_WISDOM_NO_KERNEL = -4,  /* none takes this shape */
    EVOTILE_WISDOM_UNVERIFIED = -5, /* some take it, and none has verified it */
    EVOTILE_WISDOM_NO_ARGUMENT = -6, /* a tensor or the workspace is missing or too small */
    EVOTILE_WISDOM_MISALIGNED =
        -7,                        /* an address or a stride is not a multiple of what it must be */
    EVOTILE_WISDOM_NO_DRIVER = -8, /* there is no CUDA driver of 12.0 or later, or no context */
    EVOTILE_WISDOM_NO_MEMORY = -9
};

enum { EVOTILE_WISDOM_DIMENSIONS_MAX = 24, EVOTILE_WISDOM_TENSORS_MAX = 16 };

/* One line, without a newline: what is wrong and what to do; or "". */
struct evotile_wisdom_message {
    char text[512];
};

struct evotile_wisdom;
struct evotile_wisdom_kernel;

/* ---- a file ---- */

/* Maps a file. It must be a regular file and no link. */
EVOTILE_WISDOM_API int evotile_wisdom_load(struct evotile_wisdom **wisdom, const char *path,
                                           struct evotile_wisdom_message *message);
EVOTILE_WISDOM_API void evotile_wisdom_free(struct evotile_wisdom *wisdom);

/* ---- a template on a device ---- */

struct evotile_wisdom_device {
    char name[96]; /* "NVIDIA H200" */
    int major, minor, sm_count;
};

/* The device of the thread's current context. */
EVOTILE_WISDOM_API int evotile_wisdom_this_device(struct evotile_wisdom_device *device,
                                                  struct evotile_wisdom_message *message);

/* The caller's names for what it passes, in its own order; each list ends with NULL, and may be
   NULL. A dimension that is not named has the template's default. */
struct evotile_wisdom_names {
    const char *template_name;
    const char *const *dimensions, *const *tensors, *const *scalars;
};

/* Finds the template's kernels for the device: those that were tuned on such a device; else those
   of the nearest one whose machine code runs here, and `message` says which. The names may go
   afterwards. */
EVOTILE_WISDOM_API int evotile_wisdom_open(struct evotile_wisdom_kernel **kernel,
                                           const struct evotile_wisdom *wisdom,
                                           const struct evotile_wisdom_names *names,
                                           const struct evotile_wisdom_device *device,
                                           struct evotile_wisdom_message *message);
EVOTILE_WISDOM_API void evotile_wisdom_close(struct evotile_wisdom_kernel *kernel);

/* The device that its kernels were tuned on; and whether that is of the model that was asked for.
 */
EVOTILE_WISDOM_API const struct evotile_wisdom_device *
evotile_wisdom_tuned_on(const struct evotile_wisdom_kernel *kernel, int *same_model);

/* ---- a shape ---- */

/* How a kernel was found: it was tuned for this shape; the decision tree names it; it was tuned for
   the nearest shape, by the sum of |log(a / b)| over the dimensions. */
enum evotile_wisdom_how { EVOTILE_WISDOM_EXACT, EVOTILE_WISDOM_TREE, EVOTILE_WISDOM_NEAREST };

/* Flags of a pick: also take shapes that no kernel has verified; check such results. */
enum { EVOTILE_WISDOM_TAKE_UNVERIFIED = 1 };

/* A plain value; valid until its kernel is closed. */
struct evotile_wisdom_choice {
    const struct evotile_wisdom_kernel *kernel;
    uint32_t entry;
    enum evotile_wisdom_how how;
    int predicted;                                /* p50_us is no measurement */
    double p50_us;                                /* of the shape that the kernel was tuned for */
    int64_t shape[EVOTILE_WISDOM_DIMENSIONS_MAX]; /* every dimension of the template */
};

/* A dimension of real numbers is passed as the bits of a float. */
static inline int64_t evotile_wisdom_real(float value) {
    union {
        float real;
        uint32_t bits;
    } as;
    as.real = value;
    return (int64_t)as.bits;
}

/* `shape` has the named dimensions in the caller's order. The first picks of a kernel, of up to
   16384 shapes, are kept until it is closed: the same pick costs less then, and no lock is taken.
 */
EVOTILE_WISDOM_API int evotile_wisdom_pick(const struct evotile_wisdom_kernel *kernel,
                                           const int64_t *shape, unsigned flags,
                                           struct evotile_wisdom_choice *choice);

/* "row_scale of NVIDIA H200 (132 SMs), tuned for 64,1024: 3.21 us, genome VEC=4,...": for logs.
   Returns the length, as snprintf does. */
EVOTILE_WISDOM_API int evotile_wisdom_describe(const struct evotile_wisdom_choice *choice,
                                               char *text, size_t size);

/* ---- a launch ---- */

struct evotile_wisdom_call {
    void *const *tensors; /* device addresses, in the order of the names */
    /* NULL: all are packed; else for each tensor NULL, or the strides of all dimensions but the
       last, in elements, of a tensor whose template allows it. */
    const int64_t *const *strides;
    const void *const *scalars; /* host addresses of values of the scalars' types */
    void *workspace;            /* of evotile_wisdom_workspace bytes, aligned to 256 */
    int64_t workspace_bytes;
    void *stream; /* a CUstream or cudaStream_t */
};

/* The bytes of workspace that a launch of the choice needs; 0: none. */
EVOTILE_WISDOM_API int64_t evotile_wisdom_workspace(const struct evotile_wisdom_choice *choice);

/* Launches on the current context's device and the stream. The first launch of a kernel loads its
   machine code, which is allowed within a stream capture. */
EVOTILE_WISDOM_API int evotile_wisdom_launch(const struct evotile_wisdom_choice *choice,
                                             const struct evotile_wisdom_call *call);

/* "no kernel takes this shape"; for a CUresult the driver's own words. */
EVOTILE_WISDOM_API const char *evotile_wisdom_status_text(int status);

#ifdef __cplusplus
}
#endif

/* ---- the file's format, for programs that write one (docs/formats.md describes it) ---- */

#ifdef EVOTILE_WISDOM_FORMAT

#define EVOTILE_WISDOM_MAGIC                                                                       \
    "\x89"                                                                                         \
    "EVOWIS\n"

enum {
    WISDOM_VERSION = 1,
    WISDOM_BYTE_ORDER = 0x01020304,
    WISDOM_DIGEST_BYTES = 32,
    WISDOM_STACK_MAX = 192,
    WISDOM_SLOTS_MAX = 256,
    WISDOM_ARGUMENTS_MAX = 36,
    WISDOM_KERNELS_MAX = 32,
    WISDOM_SCALARS_MAX = 8,
    WISDOM_ROUNDS_MAX = 1024,
    WISDOM_PARTS_ALIGNMENT = 256
};

/* The sections of the index follow the header in this order, each directly behind the one before,
   from a multiple of 8 bytes; then the codes, each from a multiple of 16. */
enum wisdom_section {
    WISDOM_TEXT,      /* char: texts that end with a NUL, the first one empty */
    WISDOM_TEMPLATES, /* struct wisdom_template, by name */
    WISDOM_DEVICES,   /* struct wisdom_device */
    WISDOM_GROUPS,    /* struct wisdom_group, by template and device */
    WISDOM_ENTRIES,   /* struct wisdom_entry, by group and shape */
    WISDOM_VALUES,    /* int64_t: of each entry its shape, and the least and the most of every
                         dimension    that its kernel verified */
    WISDOM_NODES,     /* struct wisdom_node, by group */
    WISDOM_ORDERS,    /* uint32_t: of the leaves */
    WISDOM_CODES,     /* struct wisdom_code */
    WISDOM_SECTIONS
};

struct wisdom_header {
    char magic[8];
    uint32_t byte_order, version;
    uint64_t file_bytes, index_bytes;    /* index_bytes: header and sections */
    uint8_t digest[WISDOM_DIGEST_BYTES]; /* BLAKE2b-256 of header and sections, with zeros here */
    struct {
        uint64_t offset, count;
    } sections[WISDOM_SECTIONS];
};

struct wisdom_template {
    uint32_t name;    /* a text's offset, as all names are */
    uint32_t code;    /* whose program computes defaults and checks ranges */
    uint64_t hash[2]; /* of the template, high and low */
};

struct wisdom_device {
    uint32_t name;
    int32_t major, minor, sm_count;
};

struct wisdom_group {
    uint32_t template_index, device;
    uint32_t first_entry, entry_count;
    uint32_t first_node, node_count; /* of the decision tree; 0 nodes: there is none */
    uint64_t first_value;
};

enum { WISDOM_PREDICTED = 1 };

struct wisdom_entry {
    uint32_t code, flags;
    double p10_us, p50_us, p90_us;
    double low_us, high_us; /* an interval of the median */
    int64_t measured_at;    /* seconds since 1970; 0: not known */
    uint32_t genome, driver, toolkit, conditions;
    /* What evotile verifies the entry again with: the hash of its solution's template, compiler
       options; and the bytes of shared memory that its search allowed. */
    uint32_t solution, template_hash, options, smem_limit;
};

/* A node of a decision tree: a shape goes to `then` if the product of the dimensions that `factors`
   names is at most `at_most`, else to `otherwise`, both of which follow the node in the group. A
   leaf, which has no factor, has an order of entries, from the group's first; the first that takes
   the shape serves it. A product beyond the range of int64_t is the end of that range. */
struct wisdom_node {
    int64_t at_most;
    int32_t factors[3]; /* dimensions; -1: none */
    uint32_t then, otherwise;
    uint32_t first_order, order_count;
    uint32_t unused;
};

/* A launch program, and machine code if it is of a variant. */
struct wisdom_code {
    uint64_t offset, bytes;              /* in the file */
    uint8_t digest[WISDOM_DIGEST_BYTES]; /* of the program: the bytes before the machine code */
    int32_t major, minor;                /* whose devices run it; */
    int32_t exact, unused;               /* exact: no later minor version does */
};

/* What a code's bytes start with. Names follow it: uint32_t offsets in the text, of dimensions,
   tensors (those that a caller gives, then workspaces, which a template's own code has not),
   scalars and kernels; then, from a multiple of 8 bytes, instructions; then the text; then, from a
   multiple of 16, machine code. */
struct wisdom_program {
    uint32_t dimension_count, tensor_count, scalar_count, kernel_count;
    uint32_t slot_count, instruction_count, text_bytes;
    uint32_t cubin_padding; /* zeros at the end of cubin_bytes */
    uint64_t cubin_bytes;
    uint8_t cubin_digest[WISDOM_DIGEST_BYTES];
    uint8_t roles[EVOTILE_WISDOM_TENSORS_MAX]; /* of the tensors: enum wisdom_role */
    uint8_t scalar_bytes[WISDOM_SCALARS_MAX];
};

enum wisdom_role { WISDOM_GIVEN, WISDOM_WORKSPACE };

/* A program is a stack machine over int64_t. Slots hold the dimensions, then what it stores. It
   ends with the status EVOTILE_WISDOM_NO_KERNEL where a number overflows, or is divided by zero,
   and where log2 is of none that is positive. A jump leads forward; WISDOM_NEXT alone leads back.
 */
enum wisdom_op {
    WISDOM_END,
    WISDOM_PUSH,      /* c */
    WISDOM_PUSH_WIDE, /* the next instruction's 8 bytes are the number */
    WISDOM_LOAD,      /* slot b */
    WISDOM_STORE,
    WISDOM_DROP,
    WISDOM_NEGATE,
    WISDOM_NOT,
    WISDOM_TRUTH, /* 0 or 1 */
    WISDOM_LOG2,
    WISDOM_ADD,
    WISDOM_SUBTRACT,
    WISDOM_MULTIPLY,
    WISDOM_DIVIDE,
    WISDOM_REMAINDER,
    WISDOM_MIN,
    WISDOM_MAX,
    WISDOM_CEIL_DIV,
    WISDOM_EQUAL,
    WISDOM_NOT_EQUAL,
    WISDOM_LESS,
    WISDOM_LESS_EQUAL,
    WISDOM_GREATER,
    WISDOM_GREATER_EQUAL,
    WISDOM_JUMP, /* to instruction c */
    WISDOM_JUMP_IF_ZERO,
    WISDOM_DEFAULT, /* dimension b becomes the number if the caller has not named it, which it must
                       if a is 1 */
    WISDOM_REQUIRE, /* no kernel for the shape unless the number holds; text c says why */
    WISDOM_REAL_RANGE, /* dimension b, a float, between the two below (bits of floats); pops both */
    WISDOM_FITS,       /* `a` extents, the last on top: their product, at most 2^40 elements */
    WISDOM_ADMITTED,   /* a pick ends here */
    WISDOM_STRIDE,     /* the packed stride b of tensor a becomes the caller's, if there is one */
    WISDOM_PART,       /* the number is the bytes of the workspace tensor a */
    WISDOM_SIZED,      /* the size of the workspace is known */
    WISDOM_CHECK,      /* tensor a is given, and a multiple of c bytes */
    WISDOM_CHECK_STRIDES, /* of tensor a: b strides of elements of so many bytes, multiples of c */
    WISDOM_CLEAR,         /* workspace tensor a becomes zeros */
    WISDOM_COPY,          /* so many bytes of tensor a to the variable with the name in text c */
    WISDOM_ROUNDS, /* so many times to the WISDOM_NEXT before c; slots b and b + 1: rounds, round */
    WISDOM_NEXT,   /* back to instruction c, behind its WISDOM_ROUNDS, with the same b */
    WISDOM_ARGUMENT_POINTER, /* of tensor a */
    WISDOM_ARGUMENT_NULL,
    WISDOM_ARGUMENT_I32,
    WISDOM_ARGUMENT_I64,
    WISDOM_ARGUMENT_F32,    /* of a float's bits */
    WISDOM_ARGUMENT_F64,    /* the same, as a double */
    WISDOM_ARGUMENT_SCALAR, /* a */
    WISDOM_ARGUMENT_MAP, /* of tensor a with c dimensions, swizzle b: bytes of an element, extents,
                            the strides of all but the last, boxes */
    WISDOM_ARGUMENT_NO_MAP,
    WISDOM_WINDOW, /* the next launch keeps so many per cent (on top) of so many bytes of tensor a
                      in L2; of 0 per cent: none */
    WISDOM_LAUNCH, /* kernel b with `a` arguments: grid x, y, z, block x, y, z, bytes of shared
                      memory, early, cooperative */
    WISDOM_OP_COUNT
};

struct wisdom_instruction {
    uint8_t op, a;
    uint16_t b;
    int32_t c;
};

#endif

#endif
