/*
 * template: a kernel's folder, read and checked. It describes as data a *problem*: dimensions,
 * tensors, and how results are verified; and a *solution* of it: genes, constraints and launches.
 * Both are in one template.json, or apart: NAME/problem.json and NAME/SOLUTION/solution.json. A
 * solution cannot change what judges it. docs/templates.md documents the folder's format.
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
 *
 * A folder here is that of a template.json, of a problem.json, or of a solution.json below one.
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
#include "template/fill.h"

enum {
    DIMENSIONS_MAX = 24,
    TENSORS_MAX = 16,
    SCALARS_MAX = 8,
    TENSOR_MAPS_MAX = 8,
    LAUNCHES_MAX = 32,           /* as template.json lists them */
    PLANNED_LAUNCHES_MAX = 1024, /* of one call, with the rounds of every repeat */
    REPEATS_MAX = 8,
    SWAPS_MAX = 8,
    PREPARED_MAX =
        8, /* outputs that a call's caller fills or clears; and inputs that are variables */
    ARGUMENTS_MAX = 36,
    WINDOWS_MAX = 4,
    OPTIONS_MAX = 16,
    MACROS_MAX = 32,
    RELAXED_MAX = 4,
    PATHOLOGIES_MAX = 8,
    PATHOLOGY_VALUES_MAX = 8,
    SOLUTIONS_MAX = 256,
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

enum role {
    ROLE_INPUT,
    ROLE_OUTPUT,
    ROLE_WORKSPACE,
    ROLE_SETUP, /* filled as inputs are; only the launches of "setup" take it */
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
    char symbol[NAME_SIZE]; /* an input that reference and plain kernel read as this variable of
                               their module, where it is copied before calls, untimed; "": none */
    char kernel_symbol[NAME_SIZE]; /* the same of the candidate's kernel */
    bool solution_symbol;          /* its solution says so, and not the problem */
    int alignment; /* bytes, of the address and of strides: the exported launcher checks it */
    struct tolerance tolerance; /* of an output */
    struct declared_fill fill;  /* of an input, or of a tensor of setup */
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
    int tensor, map, scalar;       /* indices, or -1 */
    struct expression *expression; /* if all are -1 */
    bool real;                     /* `expression` is the name of a real dimension: a float, or
                                      a double of the same value if `size` is 8 */
    int size;                      /* 4, 8, or TENSOR_MAP_BYTES */
};

struct launch {
    const char *file;              /* that lists it, for errors */
    char kernel[KERNEL_NAME_SIZE]; /* of a kernel that is extern "C", or a C++ name expression */
    struct expression *grid[3], *block[3], *smem, *when; /* `smem` and `when` may be NULL */
    struct expression *early; /* if it holds, the launch may start while the previous one still runs
                                 (programmatic dependent launch) */
    struct expression
        *cooperative; /* if it holds, all its blocks are co-resident (cooperative launch) */
    int window_count; /* tensors that may persist in L2: the per cent of their lines that do */
    struct {
        int tensor;
        struct expression *percent;
    } windows[WINDOWS_MAX];
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

/* A macro that makes a kernel slow and leaves it right, such as EXTRA_BARRIERS; it is undefined but
   in template_pathology_source. It is no gene: no genome has it, and no search sets it. */
struct pathology {
    char name[NAME_SIZE], about[ABOUT_SIZE];
    int value_count;
    int64_t values[PATHOLOGY_VALUES_MAX];
};

struct option {
    char text[NAME_SIZE];
    struct expression *when; /* NULL: always */
};

/* Genomes with coarser arithmetic than their output, such as sums in half precision: their
   error bound is looser, and they are tested on a smaller range of inputs. */
struct relaxed_rule {
    char name[NAME_SIZE];             /* which solutions claim; empty in a template.json */
    struct expression *when;          /* NULL: the solution does not claim it */
    struct expression *tile, *length; /* a dropped tile costs sqrt(tile / length) of the output */
    struct expression *tile_max;      /* of a solution's tile; NULL: any */
    double input_range;               /* the largest absolute input that they must handle */
    char about[ABOUT_SIZE];
};

/* Who says what is right, and whose error sets the error bound (template/reference.c). */
enum reference_kind {
    REFERENCE_KERNEL,         /* a kernel in double precision */
    REFERENCE_DEFAULT_GENOME, /* the template's own kernel with its default genome: a candidate
                                 agrees with it, which does not make it correct */
    REFERENCE_PROGRAM,        /* a program that answers through a pipe, such as one in Python */
    REFERENCE_ANSWERS,        /* recorded outputs to recorded inputs, which no one else knows */
};
enum plain_kind {
    PLAIN_KERNEL, /* a kernel in float of the author's */
    PLAIN_REAL,   /* the reference's source, which is written in `real`, with `real` a float: its
                     outputs are rounded to the template's dtypes (struct converted) */
    PLAIN_NONE,   /* none: the reference's outputs, rounded, stand in for it, and the bound covers
                     sums in float, too (evaluate/error_bound.h) */
};

/* What was recorded for a case: a file of the template's folder for each input and output. */
struct recorded_answer {
    struct shape shape;
    char *files[TENSORS_MAX]; /* NULL: of a workspace, or not given */
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
enum {
    COMMAND_WORDS_MAX = 16,
    BASELINE_NAME_SIZE = 256, /* of its name and the versions of all that it calls */
};

struct baseline_command {
    int count; /* number of words; 0: no baseline */
    char *words[COMMAND_WORDS_MAX];
    double limit_s; /* timeout of each reply */
};

/* Reads {"command": ["python3", "baseline.py"], "limit_s": 120}. A word that names a file of
   the template's folder, or "lib/NAME" one of the library, becomes its path, unless `template` is
   NULL. Must be released, also after a failure. */
int baseline_command_read(struct baseline_command *command, const struct json *value,
                          const struct template *template, struct error *error);
/* Reads the key "limit_s". */
int baseline_command_read_limit(struct baseline_command *command, const struct json *limit,
                                struct error *error);
/* Replaces the Python interpreter of the command; an error if the command does not start with one.
 */
int baseline_command_set_python(struct baseline_command *command, const char *python,
                                struct error *error);
void baseline_command_copy(struct baseline_command *copy, const struct baseline_command *command);
void baseline_command_release(struct baseline_command *command);

/* ---- what a template is loaded for ---- */

/* Restricts a gene to some of its values: an entry of a config's "genes". */
struct gene_restriction {
    char solution[NAME_SIZE]; /* the only one that is restricted; empty: any */
    char gene[NAME_SIZE];
    int count;
    char values[DOMAIN_MAX][NAME_SIZE];
    char where[256]; /* position in the config for errors: "FILE:LINE: PATH", or empty */
};

struct device_info;
struct recorded;

struct template_setting {
    const char *solution; /* NULL: the folder's own, the only one, or the problem's default */
    const struct device_info *device; /* architecture and other attributes; NULL: only the
                                         dimensions are read, which is enough to read cases */
    int smem_limit;                   /* bytes a block: SMEM_LIMIT in expressions */
    const struct shape *cases;
    int case_count;
    const struct gene_restriction *restrictions;
    int restriction_count;
    bool forbid_limited_range; /* makes relaxed genomes invalid */
    bool derived_cases;        /* that no config names: where a fill has no value, such as a file of
                                  another shape, no genome is valid instead of an error */
    struct recorded *recorded; /* the recorded space of `folder` if already loaded; NULL: read it */
};

struct template {
    struct recorded *recorded; /* the table that a pool answers from, which owns `space`
                                  (pool/recorded_pool.h); NULL: there is a kernel */
    const char *device;        /* the only device that it runs on; NULL: any */
    char name[NAME_SIZE];
    char about[ABOUT_SIZE];
    char *folder;             /* of the problem */
    char *solution_folder;    /* of the source; with template.json equal to `folder` */
    char solution[NAME_SIZE]; /* its name; empty with template.json */
    char *library;            /* where its library is or would be (template_library) */
    struct hash hash; /* of every byte that a candidate may depend on: lib/, the problem and the
                         solution, without prose and the baseline's program */
    struct json_document document;          /* problem.json, or template.json */
    struct json_document solution_document; /* solution.json; its root is NULL with template.json */
    int problem_slots; /* of what problem.json may read; 0: everything, as template.json */
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
    int scalar_count;
    struct scalar scalars[SCALARS_MAX];
    struct launch_list launches, reference, plain, setup; /* setup: count 0 without one */
    enum reference_kind reference_kind;
    enum plain_kind plain_kind;
    bool real;                  /* the reference's source is written in `real` */
    bool of_setup[TENSORS_MAX]; /* an argument of setup: a change of it alone would not fit */
    bool unfit[CASES_MAX];      /* derived cases for which a fill has no value */
    int round_slot; /* of ROUND, which launches of a repeat may read; 0: there is no repeat */
    bool in_repeat; /* while a repeat's launches are read */
    int macro_count;
    int macros[MACROS_MAX]; /* slots of derived quantities that the source gets as #defines */
    int option_count;
    struct option options[OPTIONS_MAX];
    int pathology_count;
    struct pathology pathologies[PATHOLOGIES_MAX];
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
    char *setup_source;                             /* NULL: none */
    char *cpu_reference, *cpu_reference_function;   /* a file name and its function; NULL: none */
    struct baseline_command baseline;
    struct baseline_command reference_program; /* of REFERENCE_PROGRAM */
    int answer_count;
    struct recorded_answer *answers; /* of REFERENCE_ANSWERS */
    char *reference_python;          /* its file, if it is a function in Python; else NULL */
};

/* Whether a folder has a template.json, a problem.json or a solution.json. */
bool template_is_folder(const char *folder);

/* The problem's folder, and the name of the solution if `folder` is that of a solution.json. */
int template_split_path(const char *folder, char problem[PATH_SIZE], char solution[NAME_SIZE],
                        struct error *error);

/* Lists the solutions in a problem's folder, sorted, at most SOLUTIONS_MAX; a folder with
   template.json has none. The caller frees the list with path_list_free; it is empty after a
   failure. */
int template_solutions(const char *folder, char ***names, int *count, struct error *error);
/* Finds the solution of a problem's folder that was a template of that name ("former_name" in its
   solution.json). Returns 1, 0 if there is none, or -1. */
int template_formerly(const char *folder, const char *name, char solution[NAME_SIZE],
                      struct error *error);

/* Finds a template's folder by name in: `folder` (from the user), $EVOTILE_TEMPLATES, templates/ in
   the current folder, and the folders beside the program; "NAME/SOLUTION" is a solution's, and a
   former name is that of the solution that had it. */
int template_find(char found[PATH_SIZE], const char *name, const char *folder, struct error *error);

/* Finds the library of a template's folder: lib/ beside it, or, if a file of the folder includes
   "lib/NAME", the first lib/ that is in a folder of template_find. Returns 1 if there is one; else
   0, and `library` is the path beside the folder. */
int template_library(char library[PATH_SIZE], const char *folder, struct error *error);

/* The file of a problem's folder that says which calls of a program are its cases
   (calls/patterns.h). No source may include it, because it is not hashed. */
#define CALLS_FILE "calls.json"

/* If `setting` is NULL, reads only the dimensions. If `folder` is a
   file, it is a recorded tuning space (device/recorded.h): a template without dimensions, tensors
   or launches; its genomes are the rows. */
struct template *template_load(const char *folder, const struct template_setting *setting,
                               struct error *error);
void template_free(struct template *template);
/* False if its trials are looked up: there is nothing to compile, run or time. */
bool template_has_kernel(const struct template *template);
/* Whether something has to be done before every call (`before` of a tensor). */
bool template_prepares_calls(const struct template *template);
/* Whether an input, or this one, is a variable of a module; and the name of the variable that these
   launches read it from, or NULL: there are none, they have none, or one takes the tensor. */
bool template_has_symbols(const struct template *template);
bool template_is_symbol(const struct template *template, int tensor);
const char *template_symbol(const struct template *template, const struct launch_list *list,
                            int tensor);
/* What a reference's program and recorded answers call a tensor: its name, and "x_before" for what
   the output x holds before a call. */
enum { ARRAY_NAME_SIZE = NAME_SIZE + 8 };
const char *template_array_name(const struct template *template, int tensor,
                                char name[ARRAY_NAME_SIZE]);

/* Reads a case, {"B": 2, "S": 512}: unknown, missing and out-of-range dimensions are errors. If
   `like` is not NULL, the specialised dimensions are copied from it and must not be given. */
int template_read_shape(const struct template *template, const struct json *value,
                        const struct shape *like, struct shape *shape, struct error *error);
/* The same of an object that also has a key which is no dimension. */
int template_read_case(const struct template *template, const struct json *value,
                       const char *other_key, struct shape *shape, struct error *error);
/* "B=2,H=8,S=512": the dimensions that differ from their defaults, in order. */
void template_print_shape(const struct template *template, const struct shape *shape,
                          char text[CASE_NAME_SIZE]);
/* {"B": 2, "H": 8, "S": 512, "CAUSAL": 0}: every dimension. The caller frees it. */
cJSON *template_shape_json(const struct template *template, const struct shape *shape);
/* The float that a real dimension holds as bits; and the shortest text that parses back to the same
   float. */
float dimension_real(int64_t bits);
void dimension_print_real(float number, char text[NAME_SIZE]);
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
/* template_source with one value of a pathology. */
char *template_pathology_source(const struct template *template, const struct genome *genome,
                                int variant, int pathology, int value, struct error *error);
/* The same text with #line directives, so that compiler messages refer to the template's files. */
char *template_source_with_lines(const struct template *template, const struct genome *genome,
                                 int variant, struct error *error);
/* The two parts of template_source: the #defines, and the text that follows the symbol, which is
   the same for all genomes. The caller frees them. */
char *template_macros(const struct template *template, const struct genome *genome, int variant,
                      struct error *error);
char *template_kernel_source(const struct template *template, struct error *error);
/* The source of the reference and of the plain kernel: no genes, no specialised dimensions. That of
   a derived plain kernel is the reference's with another `real`; there is none of PLAIN_NONE. */
char *template_reference_source(const struct template *template, struct error *error);
char *template_plain_source(const struct template *template, struct error *error);
/* That of setup, which the template must have. */
char *template_setup_source(const struct template *template, struct error *error);
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
    enum dtype written;      /* what launches write: another dtype than `dtype` where a `real` is a
                                float, and of a default genome that is the reference */
    enum dtype precision;    /* precision for which errors are bounded: dtype, or a coarser one */
    int64_t elements, bytes; /* including the gaps between rows */
    int64_t row;             /* elements of the last dimension */
    int rank;
    int64_t extents[RANK_MAX], strides[RANK_MAX]; /* strides in elements */
    struct tolerance tolerance;                   /* of a candidate's output */
    struct tensor_fill fill;                      /* of an input, or of a tensor of setup */
};

struct planned_argument {
    int tensor, map, scalar; /* indices, or -1 */
    int size;
    int64_t value;
};

struct planned_launch {
    const char *kernel;
    unsigned grid[3], block[3], smem_bytes;
    bool early, cooperative;
    int window_tensor, window_percent; /* of whose lines this share persists in L2; -1, 0: none */
    int argument_count;
    struct planned_argument arguments[ARGUMENTS_MAX];
};

/* It points into the template, which must outlive it, and may be copied. planned_launch gives its
   launches, which are not stored: there may be a thousand. */
struct launch_plan {
    struct planned_tensor tensors[TENSORS_MAX];
    struct tensor_map maps[TENSOR_MAPS_MAX]; /* addresses are not set; rank 0: absent */
    struct tensor_fill scalars[SCALARS_MAX];
    int launch_count, case_index;
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
/* The same of a case for which the genome need not be valid: its tensors, operations, bytes and
   stress inputs, without tensor maps and launches. */
int template_case_plan(const struct template *template, const struct genome *genome, int case_index,
                       struct launch_plan *plan, struct error *error);
/* The threads of a block of the launch with the most shared memory. */
int launch_plan_threads(const struct launch_plan *plan);
/* The answer to a case that the seed picks, of those recorded for it; NULL: there is none. */
const struct recorded_answer *template_answer(const struct template *template,
                                              const struct shape *shape, uint64_t seed);
/* The case that a plan is of. */
struct shape launch_plan_shape(const struct launch_plan *plan);
/* Whether the reference computes a case: that of a default genome only where the genome is valid.
 */
bool template_reference_applies(const struct template *template, int case_index);
/* What a candidate that passes is: "correct", or "agrees with the default genome"; of several,
   "agree ...". */
const char *template_passed(const struct template *template, bool several);

/* The reference's launches; its outputs are fp64 tensors of the same shape, those of i64 tensors
   of i64: a double does not hold every i64. Only here are tensors of magnitudes present. */
int template_reference_launch_plan(const struct template *template, int case_index,
                                   struct launch_plan *plan, struct error *error);
/* The plain kernel's launches; its outputs have the genome's dtypes. Of PLAIN_REAL, the launches
   write floats, and magnitudes, which nothing reads. Of PLAIN_NONE: no launches. */
int template_plain_launch_plan(const struct template *template, const struct genome *genome,
                               int case_index, struct launch_plan *plan, struct error *error);

/* The launches of setup, which has no genes. Only here are its own tensors present. */
int template_setup_launch_plan(const struct template *template, int case_index,
                               struct launch_plan *plan, struct error *error);

/* The operations or bytes of a call that the template's objective divides by its time; 1 if it is
   the latency alone. An error if there are none. */
int template_work(const struct template *template, const struct genome *genome, int case_index,
                  double *work, struct error *error);

/* Loads the same template for its probe cases: small cases that are tested before the real ones,
   each with the specialised dimensions of every variant of `setting`'s cases. Returns NULL without
   an error if it has none. A genome that is valid for the real cases may be invalid for a probe:
   check with template_genome_is_valid. */
struct template *template_load_probes(const struct template *template,
                                      const struct template_setting *setting, struct error *error);
/* Loads the same template for its reference cases: small ones, complete, at which its references
   are compared. No genome need be valid for one. Returns NULL without an error if it has none. */
struct template *template_load_reference_cases(const struct template *template,
                                               const struct template_setting *setting,
                                               struct error *error);
bool template_genome_is_valid(const struct template *template, const struct genome *genome,
                              int case_index);

#endif
