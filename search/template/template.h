/*
 * template: a kernel's folder, read and checked. A template describes a kernel as data: its case
 * dimensions, genes, constraints, tensors and launches, and how its results are verified.
 * docs/templates.md documents the folder's format.
 *
 *     struct template *template = template_load(folder, &setting, &error);
 *     space_check(template->space, &genome, &problem);
 *     char *source = template_source(template, &genome, variant, &error);
 *     template_launch_plan(template, &genome, case_index, &plan, &error);
 *     template_free(template);
 *
 * A template is loaded *for* a list of cases, a device's attributes and the limits of a config.
 * These are the environments of its space, so a genome is valid only if it is valid for every case.
 * Errors name file, line and path; expression errors include a caret.
 */
#ifndef EVOTILE_TEMPLATE_TEMPLATE_H
#define EVOTILE_TEMPLATE_TEMPLATE_H

#include "base/hash.h"
#include "base/json.h"
#include "base/path.h"
#include "outcome/minimised.h"
#include "outcome/outcome.h"
#include "ptx/tensor_map.h"
#include "space/space.h"

enum {
    DIMENSIONS_MAX = 16,
    TENSORS_MAX = 16,
    TENSOR_MAPS_MAX = 8,
    LAUNCHES_MAX = 32,           /* as template.json lists them */
    PLANNED_LAUNCHES_MAX = 1024, /* of one call, with the rounds of every repeat */
    REPEATS_MAX = 8,
    SWAPS_MAX = 8,
    PREPARED_MAX =
        8, /* outputs that a call's caller fills or clears; and inputs that are variables */
    ARGUMENTS_MAX = 32,
    OPTIONS_MAX = 16,
    MACROS_MAX = 32,
    RANK_MAX = 6,
    RELAXED_MAX = 4,
    DECLARED_STRESSES_MAX = 8,
    STRESSES_MAX = 3 * DECLARED_STRESSES_MAX + 1, /* with the derived ones */
    CASE_NAME_SIZE = 128,
    KERNEL_NAME_SIZE = 192, /* of a C++ name expression; a plain name has NAME_SIZE */
};

/* ---- contents of the folder ---- */

struct dimension {
    char name[NAME_SIZE];
    char about[ABOUT_SIZE];
    int64_t minimum, maximum;
    int64_t values[DOMAIN_MAX]; /* if value_count > 0, only these are allowed */
    int value_count;
    bool real; /* a float in `least` .. `most` rather than a whole number */
    float least, most;
    struct expression *default_value; /* NULL: must be given */
    bool specialised;                 /* a compile-time constant; otherwise a run-time argument */
};

/* One shape of the problem: a value for every dimension, in the template's order; a real dimension
   has the float's bits (dimension_real). */
struct shape {
    int64_t values[DIMENSIONS_MAX];
};

/* DTYPE_E4M3 and DTYPE_E5M2 are bytes with so many bits of exponent and fraction; a DTYPE_BOOL is a
   byte that is 0 or 1. */
enum dtype {
    DTYPE_F16,
    DTYPE_BF16,
    DTYPE_F32,
    DTYPE_F64,
    DTYPE_U32,
    DTYPE_I32,
    DTYPE_I8,
    DTYPE_U8,
    DTYPE_I16,
    DTYPE_I64,
    DTYPE_E4M3,
    DTYPE_E5M2,
    DTYPE_BOOL,
    DTYPE_COUNT
};
enum role {
    ROLE_INPUT,
    ROLE_OUTPUT,
    ROLE_WORKSPACE,
    ROLE_COUNT,
    ROLE_MAGNITUDE = ROLE_COUNT /* doubles that only the reference writes (struct tolerance); they
                                   follow the tensors of template.json */
};

/* What an element of an output may be off by, if the template says so: absolute + relative * |want|
   + of_magnitude * magnitude. It replaces the error bound from the plain kernel. With magnitudes, a
   plan has what follows from them and from the dtype (template/tolerance.c). */
struct tolerance {
    bool given;
    double relative, absolute;
    double of_equal;     /* in a plan: instead of `relative` where an input is constant */
    double matched;      /* the share of elements that must agree: in (0, 1] */
    int magnitude;       /* the tensor of the sums of the terms' magnitudes, or -1 */
    double of_magnitude; /* 0 without one */
};

struct tensor {
    char name[NAME_SIZE];
    enum dtype dtype, other_dtype; /* other_dtype applies if `dtype_when` does not hold */
    struct expression *dtype_when; /* NULL: always dtype */
    bool coarse;                   /* an output that may be as inexact as `precision` */
    enum dtype precision;
    enum role role;
    int rank;
    struct expression *shape[RANK_MAX];
    bool strided;              /* elements are not packed in row-major order: */
    int strides[RANK_MAX - 1]; /* slots of derived quantities: elements between neighbours along
                                  each extent but the last, which is dense */
    struct expression
        *when;      /* NULL: always present; if it does not hold, the kernel gets a null pointer */
    bool clear;     /* a workspace that is zeroed before every call; the clearing is timed */
    int before;     /* what an output holds before every call, untimed, because its caller puts it
                       there: BEFORE_ANYTHING, BEFORE_ZEROS, or what the tensor of this index holds: */
    bool of_output; /* an input that holds what an output holds before every call; it follows the
                       tensors of template.json, and only the reference and the plain kernel take it
                     */
    char symbol[NAME_SIZE]; /* an input that the kernel reads as this variable of its module, where
                               it is copied before calls, untimed; "": none */
    int alignment; /* bytes, of the address and of strides: the exported launcher checks it */
    struct tolerance tolerance; /* of an output */
};
enum { ALIGNMENT_DEFAULT = 16, ALIGNMENT_MAX = 256 };
enum { BEFORE_ANYTHING = 0, BEFORE_ZEROS = -1 }; /* no output's input is the first tensor */

/* A tensor map (TMA descriptor): boxes of a tensor that the GPU copies to shared memory, swizzled.
 */
struct tensor_map_spec {
    char name[NAME_SIZE];
    int tensor;
    struct expression *box[RANK_MAX]; /* one extent a dimension of the tensor */
    enum tensor_swizzle swizzle,
        other_swizzle; /* other_swizzle applies if `swizzle_when` does not hold */
    struct expression *swizzle_when;
    struct expression *when; /* NULL: present if the tensor is; if absent, the kernel gets zeros */
};

struct argument {
    int tensor, map;               /* indices, or -1 */
    struct expression *expression; /* if both are -1 */
    bool real;                     /* `expression` is the name of a real dimension: a float, or
                                      a double of the same value if `size` is 8 */
    int size;                      /* 4, 8, or TENSOR_MAP_BYTES */
};

struct launch {
    char kernel[KERNEL_NAME_SIZE]; /* of a kernel that is extern "C", or a C++ name expression */
    struct expression *grid[3], *block[3], *smem, *when; /* `smem` and `when` may be NULL */
    struct expression *early; /* if it holds, the launch may start while the previous one still runs
                                 (programmatic dependent launch) */
    struct expression
        *cooperative; /* if it holds, all its blocks are co-resident (cooperative launch) */
    int argument_count;
    struct argument arguments[ARGUMENTS_MAX];
    int repeat; /* the list's repeat that it belongs to, or -1 */
};

/* Launches that run several times: in the last round every name denotes its own tensor, in the
   round before the two tensors of each swap have changed places, and so on backwards. The last
   round therefore finds the same tensors for every number of rounds. */
struct tensor_swap {
    int read, written; /* tensors; an output can only be `written` if the other is a workspace */
};

struct repeat {
    struct expression *rounds;
    int first, count; /* of the list's launches */
    int swap_count;
    struct tensor_swap swaps[SWAPS_MAX];
};

struct launch_list {
    int count;
    struct launch launches[LAUNCHES_MAX];
    int repeat_count;
    struct repeat repeats[REPEATS_MAX];
};

struct option {
    char text[NAME_SIZE];
    struct expression *when; /* NULL: always */
};

/* Genomes with coarser arithmetic than their output, such as sums in half precision: their
   error bound is looser, and they are tested on a smaller range of inputs. */
struct relaxed_rule {
    struct expression *when;
    struct expression *tile, *length; /* a dropped tile costs sqrt(tile / length) of the output */
    double input_range;               /* the largest absolute input that they must handle */
    char about[ABOUT_SIZE];
};

/* How an input tensor is filled, implemented by the comparison kernels (trial/compare.cu). */
enum fill {
    FILL_NORMAL,   /* value * N(0, 1), limited to FILL_NORMAL_MAX times value */
    FILL_CONSTANT, /* value */
    FILL_SPIKES,   /* N(0, 1), but `value` in one column of one row in 64; the column is the same in
                      all tensors */
    FILL_EXTREMES, /* N(0, 1), but one element in 256 is `value` times the dtype's largest number,
                      at least one of either sign; all in a column have the same sign, because no
                      correct summation survives two that cancel */
    FILL_NAN,      /* value * N(0, 1), but one element is NaN */
    FILL_COLUMN,   /* N(0, 1), but `value` in one column, which is the same in all tensors */
    FILL_FIRST, /* N(0, 1), but in that column `value` in the first row and 0 in the others: of the
                   products of rows with those of a FILL_COLUMN tensor, one leads by the product
                   of both values */
    FILL_LAST,  /* the same with the last row */
    FILL_COUNT
};
#define FILL_NORMAL_MAX 6.8

struct tensor_fill {
    enum fill fill;
    double value;
};

/* Inputs that kernels often get wrong. */
struct stress {
    char name[NAME_SIZE];
    struct expression *when; /* NULL: for every case */
    struct tensor_fill fills[TENSORS_MAX];
    bool derived; /* not declared: skipped where the plain kernel cannot compute it */
};

/* A program that times the alternative to the kernel, such as a framework's operator. The protocol
   is in docs/templates.md, "A baseline"; evaluate/baseline.h implements it. */
enum { COMMAND_WORDS_MAX = 16 };

struct baseline_command {
    int count; /* number of words; 0: no baseline */
    char *words[COMMAND_WORDS_MAX];
    double limit_s; /* timeout of each reply */
};

/* Reads {"command": ["python3", "baseline.py"], "limit_s": 120}. A word that names a file in
   `folder` becomes its path, unless `folder` is NULL. Must be released, also after a failure. */
int baseline_command_read(struct baseline_command *command, const struct json *value,
                          const char *folder, struct error *error);
/* Replaces the Python interpreter of the command; an error if the command does not start with one.
 */
int baseline_command_set_python(struct baseline_command *command, const char *python,
                                struct error *error);
void baseline_command_copy(struct baseline_command *copy, const struct baseline_command *command);
void baseline_command_release(struct baseline_command *command);

/* ---- what a template is loaded for ---- */

/* Restricts a gene to some of its values: an entry of a config's "genes". */
struct gene_restriction {
    char gene[NAME_SIZE];
    int count;
    char values[DOMAIN_MAX][NAME_SIZE];
    char where[256]; /* position in the config for errors: "FILE:LINE: PATH", or empty */
};

struct device_info;
struct recorded;

struct template_setting {
    const struct device_info *device; /* architecture and other attributes */
    int smem_limit;                   /* bytes a block: SMEM_LIMIT in expressions */
    const struct shape *cases;
    int case_count;
    const struct gene_restriction *restrictions;
    int restriction_count;
    bool forbid_limited_range; /* makes relaxed genomes invalid */
    struct recorded *recorded; /* the recorded space of `folder` if already loaded; NULL: read it */
};

struct template {
    struct recorded *recorded; /* the table that a pool answers from, which owns `space`
                                  (pool/recorded_pool.h); NULL: there is a kernel */
    const char *device;        /* the only device that it runs on; NULL: any */
    char name[NAME_SIZE];
    char about[ABOUT_SIZE];
    char *folder;
    char *library;    /* where its library is or would be (template_library) */
    struct hash hash; /* of every byte that a candidate may depend on: lib/ and the folder, without
                         prose and the baseline's program */
    struct json_document document;
    int expression_count;
    struct expression **expressions; /* all of those below, to free them */
    struct space *space;             /* one environment a case, in the order of the cases; sealed */
    int dimension_count;
    struct dimension dimensions[DIMENSIONS_MAX];
    int case_count;
    struct shape cases[CASES_MAX];
    int tensor_count;
    struct tensor tensors[TENSORS_MAX];
    int map_count;
    struct tensor_map_spec maps[TENSOR_MAPS_MAX];
    struct launch_list launches, reference, plain;
    int round_slot; /* of ROUND, which launches of a repeat may read; 0: there is no repeat */
    bool in_repeat; /* while a repeat's launches are read */
    int macro_count;
    int macros[MACROS_MAX]; /* slots of derived quantities that the source gets as #defines */
    int option_count;
    struct option options[OPTIONS_MAX];
    int relaxed_count;
    struct relaxed_rule relaxed[RELAXED_MAX];
    int stress_count;
    struct stress stresses[STRESSES_MAX];
    bool float_atomics; /* results of two runs on the same input may differ by rounding */
    struct expression *operations, *bytes;
    enum minimised objective;  /* latency, or the time of an operation or byte: genes may change how
                                  many there are */
    bool architecture_variant; /* compile for sm_90a rather than sm_90 */
    int compute_capability;
    char *source, *reference_source, *plain_source; /* file names in the folder */
    char *cpu_reference, *cpu_reference_function;   /* a file name and its function; NULL: none */
    struct baseline_command baseline;
};

/* Finds a template's folder by name in: `folder` (from the user), $EVOTILE_TEMPLATES, templates/ in
   the current folder, and the folders beside the program. */
int template_find(char found[PATH_SIZE], const char *name, const char *folder, struct error *error);

/* Finds the library of a template's folder: lib/ beside it, or, if a file of the folder includes
   "lib/NAME", the first lib/ that is in a folder of template_find. Returns 1 if there is one; else
   0, and `library` is the path beside the folder. */
int template_library(char library[PATH_SIZE], const char *folder, struct error *error);

/* If `setting` is NULL, reads only the dimensions, which is enough to read cases. If `folder` is a
   file, it is a recorded tuning space (device/recorded.h): a template without dimensions, tensors
   or launches; its genomes are the rows. */
struct template *template_load(const char *folder, const struct template_setting *setting,
                               struct error *error);
void template_free(struct template *template);
/* False if its trials are looked up: there is nothing to compile, run or time. */
bool template_has_kernel(const struct template *template);
/* Whether something has to be done before every call (`before` of a tensor). */
bool template_prepares_calls(const struct template *template);
/* Whether an input is a variable of the kernel's module; and whether the module of these launches
   has that variable: a kernel always, the reference and the plain kernel unless a launch takes the
   tensor. */
bool template_has_symbols(const struct template *template);
bool template_copies_symbol(const struct template *template, const struct launch_list *list,
                            int tensor);

/* Reads a case, {"B": 2, "S": 512}: unknown, missing and out-of-range dimensions are errors. If
   `like` is not NULL, the specialised dimensions are copied from it and must not be given. */
int template_read_shape(const struct template *template, const struct json *value,
                        const struct shape *like, struct shape *shape, struct error *error);
/* "B=2,H=8,S=512": the dimensions that differ from their defaults, in order. */
void template_print_shape(const struct template *template, const struct shape *shape,
                          char text[CASE_NAME_SIZE]);
/* {"B": 2, "H": 8, "S": 512, "CAUSAL": 0}: every dimension. The caller frees it. */
cJSON *template_shape_json(const struct template *template, const struct shape *shape);
/* The float that a real dimension holds as bits; and the shortest text that parses back to the same
   float. */
float dimension_real(int64_t bits);
void dimension_print_real(float number, char text[NAME_SIZE]);
/* The short name of a dtype (f16), and its size in bytes. */
const char *dtype_name(enum dtype dtype);
int dtype_bytes(enum dtype dtype);
/* The value of a case's dimension by name, or `otherwise` if there is none. */
int64_t template_dimension(const struct template *template, const struct shape *shape,
                           const char *name, int64_t otherwise);

/* ---- a candidate: source ---- */

/* Cases that agree in every specialised dimension share a *variant*: one compilation. A variant is
   identified by the index of its first case. */
int template_variant(const struct template *template, int case_index);

/* The text that NVRTC compiles: the genes, labels, specialised dimensions and macros as #defines,
   the genome's hash as a symbol, then the source with its includes inlined. The caller frees it. */
char *template_source(const struct template *template, const struct genome *genome, int variant,
                      struct error *error);
/* Maps a line of that text, from 1, to its file: returns 1 with the file's name and the line in it;
   0 if the line is generated. */
int template_source_location(const struct template *template, const struct genome *genome,
                             int variant, int line, char name[NAME_SIZE], int *file_line,
                             struct error *error);
/* The same text with #line directives, so that compiler messages refer to the template's files. */
char *template_source_with_lines(const struct template *template, const struct genome *genome,
                                 int variant, struct error *error);
/* The two parts of template_source: the #defines, and the text that follows the symbol, which is
   the same for all genomes. The caller frees them. */
char *template_macros(const struct template *template, const struct genome *genome, int variant,
                      struct error *error);
char *template_kernel_source(const struct template *template, struct error *error);
/* The source of the reference and of the plain kernel: no genes, no specialised dimensions. */
char *template_reference_source(const struct template *template, struct error *error);
char *template_plain_source(const struct template *template, struct error *error);
/* The text of cpu_reference, which the template must have. */
char *template_c_reference_source(const struct template *template, struct error *error);
/* The value of the symbol TEMPLATE_TAG_SYMBOL for this genome; reading it back proves which genome
   a loaded module was compiled for. */
uint64_t template_genome_tag(const struct genome *genome);
#define TEMPLATE_TAG_SYMBOL "evotile_genome"

/* The compiler options of a genome, ended by NULL, at most OPTIONS_MAX + 8; `storage` holds text
   that they point to. Line information lets findings name lines; it does not change the code. */
struct compile_options {
    int count;
    const char *items[OPTIONS_MAX + 8];
    char storage[512];
};
int template_options(const struct template *template, const struct genome *genome, bool line_info,
                     struct compile_options *options, struct error *error);

/* The C++ name expressions of launches, each once: what NVRTC compiles for them beside the kernels
   that are extern "C". They point into the template. */
struct kernel_list {
    int count;
    const char *items[LAUNCHES_MAX];
};
/* Those of a candidate, without launches whose condition cannot hold in any case of the variant. */
int template_kernels(const struct template *template, const struct genome *genome, int variant,
                     struct kernel_list *list, struct error *error);
/* Those of the reference or the plain kernel. */
void launch_list_kernels(const struct launch_list *launches, struct kernel_list *list);

/* ---- a candidate: launch plan ---- */

struct planned_tensor {
    bool present;
    enum dtype dtype;
    enum dtype precision;    /* precision for which errors are bounded: dtype, or a coarser one */
    int64_t elements, bytes; /* including the gaps between rows */
    int64_t row;             /* elements of the last dimension */
    int rank;
    int64_t extents[RANK_MAX], strides[RANK_MAX]; /* strides in elements */
    struct tolerance tolerance;                   /* of a candidate's output */
};

struct planned_argument {
    int tensor, map; /* indices, or -1 */
    int size;
    int64_t value;
};

struct planned_launch {
    const char *kernel;
    unsigned grid[3], block[3], smem_bytes;
    bool early, cooperative;
    int argument_count;
    struct planned_argument arguments[ARGUMENTS_MAX];
};

/* It points into the template, which must outlive it, and may be copied. planned_launch gives its
   launches, which are not stored: there may be a thousand. */
struct launch_plan {
    struct planned_tensor tensors[TENSORS_MAX];
    struct tensor_map maps[TENSOR_MAPS_MAX]; /* addresses are not set; rank 0: absent */
    int launch_count;
    const struct template *template;
    const struct launch_list *list;
    uint8_t launches[PLANNED_LAUNCHES_MAX]; /* of the list */
    uint16_t rounds[PLANNED_LAUNCHES_MAX];  /* the number of the round, if it is in a repeat */
    int repeat_rounds[REPEATS_MAX];
    int64_t values[SLOTS_MAX]; /* of the genome and the case: what expressions read */
    int64_t operations, bytes;
    bool limited_range;  /* the genome is relaxed: */
    double dropped_tile; /* relative L2 error of a dropped tile; 0 if not relaxed */
    double input_range;  /* the largest absolute input to test with; INFINITY if not relaxed */
    bool stressed[STRESSES_MAX]; /* the stress inputs that apply to this case */
};

/* The launch of a plan with this index, from 0. */
struct planned_launch planned_launch(const struct launch_plan *plan, int index);

/* Computes the launch plan of a valid genome for one of the template's cases. A grid, block or size
   outside CUDA's limits is an error of the template. */
int template_launch_plan(const struct template *template, const struct genome *genome,
                         int case_index, struct launch_plan *plan, struct error *error);
/* The reference's launches; its outputs are fp64 tensors of the same shape, those of i64 tensors
   of i64: a double does not hold every i64. Only here are tensors of magnitudes present. */
int template_reference_launch_plan(const struct template *template, int case_index,
                                   struct launch_plan *plan, struct error *error);
/* The plain kernel's launches; its outputs have the genome's dtypes. */
int template_plain_launch_plan(const struct template *template, const struct genome *genome,
                               int case_index, struct launch_plan *plan, struct error *error);

/* The operations or bytes of a call that the template's objective divides by its time; 1 if it is
   the latency alone. An error if there are none. */
int template_work(const struct template *template, const struct genome *genome, int case_index,
                  double *work, struct error *error);

/* The largest absolute value that a fill writes into a tensor of that dtype. */
double template_fill_maximum(const struct tensor_fill *fill, enum dtype dtype);
/* Relative half unit in the last place: 2^-11 for f16; 0 for integers. And the smallest normal and
   the largest number. */
double dtype_rounding(enum dtype dtype);
double dtype_smallest_normal(enum dtype dtype);
double dtype_largest(enum dtype dtype);

/* Loads the same template for its probe cases: small cases that are tested before the real ones,
   each with the specialised dimensions of every variant of `setting`'s cases. Returns NULL without
   an error if it has none. A genome that is valid for the real cases may be invalid for a probe:
   check with template_genome_is_valid. */
struct template *template_load_probes(const struct template *template,
                                      const struct template_setting *setting, struct error *error);
bool template_genome_is_valid(const struct template *template, const struct genome *genome,
                              int case_index);

#endif
