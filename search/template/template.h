/*
 * template: one kernel's folder, read and checked. Everything that is known of a kernel is data
 * here: its case dimensions, genes, constraints, tensors, launches, and what judges them.
 * templates/README.md is the manual of the folder's format; this is the manual of what it becomes.
 *
 *     struct template *template = template_load(folder, &setting, &error);
 *     space_check(template->space, &genome, &problem);
 *     char *source = template_source(template, &genome, variant, &error);
 *     template_plan(template, &genome, case_index, &plan, &error);
 *     template_free(template);
 *
 * A template is loaded *for* a list of cases, a device's attributes and the limits of a config:
 * these are the environments of its space, so validity means validity for every one of these cases.
 * Errors name file, line and path; expression errors have a caret.
 */
#ifndef EVOTILE_TEMPLATE_TEMPLATE_H
#define EVOTILE_TEMPLATE_TEMPLATE_H

#include "base/hash.h"
#include "base/json.h"
#include "base/path.h"
#include "device/tensor_map.h"
#include "genome/space.h"
#include "outcome/outcome.h"

enum {
    DIMENSIONS_MAX = 16,
    TENSORS_MAX = 16,
    TENSOR_MAPS_MAX = 8,
    LAUNCHES_MAX = 6,
    ARGUMENTS_MAX = 32,
    OPTIONS_MAX = 16,
    RANK_MAX = 6,
    RELAXED_MAX = 4,
    STRESSES_MAX = 8,
    CASE_NAME_SIZE = 128,
};

/* ---- what the folder says ---- */

struct dimension {
    char name[NAME_SIZE];
    char about[ABOUT_SIZE];
    int64_t minimum, maximum;
    int64_t values[DOMAIN_MAX]; /* where value_count > 0, only these are allowed */
    int value_count;
    bool real; /* a float rather than a whole number, from `least` to `most` */
    float least, most;
    struct expression *preset; /* NULL: must be given */
    bool specialised;          /* compiled in; otherwise a run-time argument */
};

/* One shape of the problem: a value for every dimension, in the template's order; of a real one,
   the float's bits (dimension_real). */
struct shape {
    int64_t values[DIMENSIONS_MAX];
};

enum dtype { DTYPE_F16, DTYPE_BF16, DTYPE_F32, DTYPE_F64, DTYPE_U32, DTYPE_I32, DTYPE_COUNT };
enum role { ROLE_INPUT, ROLE_OUTPUT, ROLE_WORKSPACE, ROLE_COUNT };

struct tensor {
    char name[NAME_SIZE];
    enum dtype dtype, other_dtype; /* other_dtype where `dtype_when` does not hold */
    struct expression *dtype_when; /* NULL: always dtype */
    bool coarse;                   /* an output that need be no more exact than `precision` */
    enum dtype precision;
    enum role role;
    int rank;
    struct expression *shape[RANK_MAX];
    bool strided;              /* rows may lie apart, or extents in another order: */
    int strides[RANK_MAX - 1]; /* slots of derived quantities, elements from one to the next of each
                                  extent but the last, which is dense */
    struct expression *when;   /* NULL: always there; else a null pointer where it does not hold */
    bool clear;                /* a workspace zeroed before every call, which is timed with it */
};

/* A tensor seen by the GPU's copy engine: boxes of it, which lie in shared memory under a swizzle.
 */
struct map {
    char name[NAME_SIZE];
    int tensor;
    struct expression *box[RANK_MAX];           /* one extent for each of the tensor's */
    enum tensor_swizzle swizzle, other_swizzle; /* as with dtype */
    struct expression *swizzle_when;
    struct expression *when; /* NULL: always there, if the tensor is; else zeros */
};

struct argument {
    int tensor, map;               /* indices, or -1 */
    struct expression *expression; /* where both are -1 */
    bool real;                     /* the expression is the name of a real dimension */
    int size;                      /* 4, 8, or TENSOR_MAP_BYTES */
};

struct launch {
    char kernel[NAME_SIZE];
    struct expression *grid[3], *block[3], *smem, *when; /* from smem on they may be NULL */
    struct expression *early; /* where it holds, it may begin while the one before it still runs */
    struct expression *cooperative; /* where it holds, all its blocks live together */
    int argument_count;
    struct argument arguments[ARGUMENTS_MAX];
};

struct launch_list {
    int count;
    struct launch launches[LAUNCHES_MAX];
};

struct option {
    char text[NAME_SIZE];
    struct expression *when; /* NULL: always */
};

/* Genomes whose arithmetic is coarser than their output, such as sums in half: their bound is
   looser, and they are tested within a smaller range of inputs. */
struct relaxed {
    struct expression *when;
    struct expression *tile, *length; /* a dropped tile costs sqrt(tile / length) of the output */
    double input_range;               /* the largest absolute input that they must bear */
    char about[ABOUT_SIZE];
};

/* How an input tensor is filled; the judge's kernels know how (trial/judge.cu). */
enum fill {
    FILL_NORMAL,   /* value * N(0, 1), never beyond FILL_NORMAL_MOST of it */
    FILL_CONSTANT, /* value */
    FILL_SPIKES,   /* N(0, 1), but one row in 64 has `value` in a column, which is the same in all
                      tensors */
    FILL_EXTREMES, /* N(0, 1), but one element in 256 is `value` of the dtype's largest number; of
                      one sign in a column, for no honest sum survives two that cancel */
    FILL_COUNT
};
#define FILL_NORMAL_MOST 6.8

struct tensor_fill {
    enum fill fill;
    double value;
};

/* A recipe for inputs that kernels are known to get wrong. */
struct stress {
    char name[NAME_SIZE];
    struct expression *when; /* NULL: for every case */
    struct tensor_fill fills[TENSORS_MAX];
};

/* A program that times what a user would run instead of the kernel: templates/README.md, "A
   baseline", tells how it is talked to, trial/baseline.h does. */
enum { COMMAND_WORDS_MAX = 16 };

struct baseline_command {
    int count; /* of words; 0: there is none */
    char *words[COMMAND_WORDS_MAX];
    double limit_s; /* for each of its answers */
};

/* Reads {"command": ["python3", "baseline.py"], "limit_s": 120}; a word that names a file in
   `folder`, unless that is NULL, becomes its path. To be released, also after a failure. */
int baseline_command_read(struct baseline_command *command, const struct json *value,
                          const char *folder, struct error *error);
/* Has it run by this Python, if it is run by one: else an error. */
int baseline_command_set_python(struct baseline_command *command, const char *python,
                                struct error *error);
void baseline_command_copy(struct baseline_command *copy, const struct baseline_command *command);
void baseline_command_release(struct baseline_command *command);

/* ---- what it is loaded for ---- */

/* Narrows one gene to some of its values: a config's "genes". */
struct narrowing {
    char gene[NAME_SIZE];
    int count;
    char values[DOMAIN_MAX][NAME_SIZE];
    char where[256]; /* it was asked for, for errors: "FILE:LINE: PATH", or empty */
};

struct device_info;
struct recorded;

struct template_setting {
    const struct device_info *device; /* its attributes; architecture */
    int smem_limit;                   /* bytes a block: SMEM_LIMIT in expressions */
    const struct shape *cases;
    int case_count;
    const struct narrowing *narrowings;
    int narrowing_count;
    bool forbid_limited_range; /* relaxed genomes are not valid */
    struct recorded *table;    /* of `folder`, where that was read before; NULL: it is read */
};

struct template {
    struct recorded *recorded; /* the table that stands in for compiler and device, and whose space
                                  this is; NULL: there is a kernel */
    char name[NAME_SIZE];
    char about[ABOUT_SIZE];
    char *folder;
    struct hash hash; /* of every byte that a candidate may depend on: the folder, without prose and
                         the baseline's program, and lib/ */
    struct json_document document;
    struct space *space; /* one environment a case, in their order; sealed */
    int dimension_count;
    struct dimension dimensions[DIMENSIONS_MAX];
    int case_count;
    struct shape cases[CASES_MAX];
    int tensor_count;
    struct tensor tensors[TENSORS_MAX];
    int map_count;
    struct map maps[TENSOR_MAPS_MAX];
    struct launch_list launches, reference, plain;
    int option_count;
    struct option options[OPTIONS_MAX];
    int relaxed_count;
    struct relaxed relaxed[RELAXED_MAX];
    int stress_count;
    struct stress stresses[STRESSES_MAX];
    bool float_atomics; /* two runs on the same input may differ by rounding */
    struct expression *operations, *bytes;
    bool architecture_variant; /* wants sm_90a rather than sm_90 */
    int compute_capability;
    char *source, *reference_source, *plain_source;
    char *cpu_reference_function;
    char *cpu_reference; /* these are file names in the folder; this one may be NULL */
    struct baseline_command baseline;
};

/* Finds the folder of a template by name: `folder` given by the user, $EVOTILE_TEMPLATES,
   templates/ here, or beside the program. */
int template_find(char found[PATH_SIZE], const char *name, const char *folder, struct error *error);

/* Reads only what is needed to know the dimensions (for reading cases), when `setting` has no case.
   Where `folder` is a file, it is a recorded tuning space (device/recorded.h): a template without
   dimensions, tensors or launches, whose rows are its genomes. */
struct template *template_load(const char *folder, const struct template_setting *setting,
                               struct error *error);
void template_free(struct template *template);

/* Reads a case, {"B": 2, "S": 512}: unknown, missing and impossible dimensions are errors. The
   specialised dimensions are those of `like`, and must not be given, unless it is NULL. */
int template_read_shape(const struct template *template, const struct json *value,
                        const struct shape *like, struct shape *shape, struct error *error);
/* "B=2,H=8,S=512": what is not preset, in order. */
void template_print_shape(const struct template *template, const struct shape *shape,
                          char text[CASE_NAME_SIZE]);
/* {"B": 2, "H": 8, "S": 512, "CAUSAL": 0}: every dimension. The caller's. */
cJSON *template_shape_json(const struct template *template, const struct shape *shape);
/* What the bits of a real dimension stand for; and the shortest text that reads back as a float. */
float dimension_real(int64_t bits);
void dimension_print_real(float number, char text[NAME_SIZE]);
/* A short name of the dtype (f16), and its bytes. */
const char *dtype_name(enum dtype dtype);
int dtype_bytes(enum dtype dtype);
/* The value of a case's dimension by name, or `otherwise`. */
int64_t template_dimension(const struct template *template, const struct shape *shape,
                           const char *name, int64_t otherwise);

/* ---- a candidate: source ---- */

/* Cases that agree in every specialised dimension share a *variant*: one compilation. The variant
   of a case is the index of the first case that it agrees with. */
int template_variant(const struct template *template, int case_index);

/* The text that NVRTC gets: the genes, labels and specialised dimensions as #defines, the genome's
   hash as a symbol, then the source with its library inlined. The caller frees it. */
char *template_source(const struct template *template, const struct genome *genome, int variant,
                      struct error *error);
/* Where a line of that text, from 1, came from: 1 with the file's name and its line there; 0 where
   it is of none of the template's files. */
int template_origin(const struct template *template, const struct genome *genome, int variant,
                    int line, char name[NAME_SIZE], int *its_line, struct error *error);
/* The same with #line directives: a compiler then speaks of the template's own files and lines. */
char *template_placed_source(const struct template *template, const struct genome *genome,
                             int variant, struct error *error);
/* The reference's and the plain kernel's: no genes, no specialised dimensions. */
char *template_reference_source(const struct template *template, struct error *error);
char *template_plain_source(const struct template *template, struct error *error);
/* The symbol's value for this genome: read back from the loaded module. */
uint64_t template_genome_mark(const struct genome *genome);
#define TEMPLATE_MARK_SYMBOL "evotile_genome"

/* Compile options for a genome, NULL-ended, at most OPTIONS_MAX + 8; `storage` holds their text. */
struct compile_options {
    int count;
    const char *items[OPTIONS_MAX + 8];
    char storage[512];
};
int template_options(const struct template *template, const struct genome *genome,
                     bool for_emulation, struct compile_options *options, struct error *error);

/* ---- a candidate: geometry ---- */

struct planned_tensor {
    bool present;
    enum dtype dtype;
    enum dtype precision;    /* that errors are judged by: dtype, or a coarser one */
    int64_t elements, bytes; /* with what lies between rows */
    int64_t row;             /* elements of the last dimension */
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

struct plan {
    struct planned_tensor tensors[TENSORS_MAX];
    struct tensor_map maps[TENSOR_MAPS_MAX]; /* without addresses; rank 0: not there */
    int launch_count;
    struct planned_launch launches[LAUNCHES_MAX];
    int64_t operations, bytes;
    bool limited_range;          /* the genome is a relaxed one: */
    double dropped_tile;         /* what a dropped tile costs, in relative L2; 0 otherwise */
    double input_range;          /* the largest absolute input to test with; INFINITY otherwise */
    bool stressed[STRESSES_MAX]; /* the recipes that are for this case */
};

/* The geometry of a valid genome for one of the template's cases. A grid, block or size out of
   CUDA's range is an error of the template. */
int template_plan(const struct template *template, const struct genome *genome, int case_index,
                  struct plan *plan, struct error *error);
/* The reference's launches; outputs stand for fp64 tensors of the same shape. */
int template_reference_plan(const struct template *template, int case_index, struct plan *plan,
                            struct error *error);
/* The plain kernel's: outputs are the genome's own. */
int template_plain_plan(const struct template *template, const struct genome *genome,
                        int case_index, struct plan *plan, struct error *error);

/* The largest absolute value that a fill puts into a tensor of that dtype. */
double template_fill_most(const struct tensor_fill *fill, enum dtype dtype);
/* Half a unit in the last place, relative: 2^-11 for f16; 0 for integers. And the smallest normal
   and the largest number. */
double dtype_rounding(enum dtype dtype);
double dtype_smallest_normal(enum dtype dtype);
double dtype_largest(enum dtype dtype);

/* The same template loaded for its probe cases, small ones that come before the real cases: each
   with the specialised dimensions of each variant of `setting`'s cases. NULL, and no error, where
   it has none. A genome that is valid for the real cases need not be so for a probe: ask
   template_admits first. */
struct template *template_load_probes(const struct template *template,
                                      const struct template_setting *setting, struct error *error);
bool template_admits(const struct template *template, const struct genome *genome, int case_index);

#endif
