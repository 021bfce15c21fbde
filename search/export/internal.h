/*
 * internal: declarations shared by the files of export/. Private to this folder.
 *
 * An expression of the template is printed as C: genes, specialised dimensions, device attributes
 * and derived quantities of these are constants; other dimensions are members of `shape`; other
 * derived quantities are local variables, which expr_to_c_add_locals declares before their use.
 */
#ifndef EVOTILE_EXPORT_INTERNAL_H
#define EVOTILE_EXPORT_INTERNAL_H

#include "base/strbuf.h"
#include "export/export.h"

/* The prefix of the 64-bit integer functions that printed expressions call. */
#define INT_FUNCTION_PREFIX    "int64_"
#define PYTHON_FUNCTION_PREFIX "_"

/* How expressions are printed for one variant. */
struct expr_printer {
    const struct template *template;
    const char *type; /* of local variables: int64_t or double */
    struct symbol_table
        symbols;        /* the space's, with dimensions renamed shape->S or (double)shape->S */
    struct slots known; /* constants */
    int64_t values[SLOTS_MAX];
    bool
        launches; /* `tensors` is in scope: strides that the caller gave override the packed ones */
    bool python;  /* print Python, whose variables have the names of dimensions */
};

/* `variant` NULL: for the reference, which no gene affects and whose dimensions are all variable;
   with a case_index of -1: with these genes, and dimensions that are all variable. With `as_double`
   dimensions are cast to double, so that products of large shapes do not overflow. The caller frees
   the printer. */
struct expr_printer *expr_to_c_new(const struct template *template,
                                   const struct export_variant *variant, bool as_double,
                                   struct error *error);
/* The same for Python, with all dimensions variable: members, as "shape.", or variables, "". */
struct expr_printer *expr_to_python_new(const struct template *template, const char *member,
                                        struct error *error);
void expr_to_c_add(const struct expr_printer *printer, const struct expression *expression,
                   struct strbuf *text);
/* True if the expression is constant for this variant; sets `value`. */
bool expr_to_c_constant(const struct expr_printer *printer, const struct expression *expression,
                        int64_t *value);
/* Adds declarations of the derived quantities that `code` reads, directly or indirectly. */
void expr_to_c_add_locals(const struct expr_printer *printer, const char *code,
                          struct strbuf *text);

/* A shape that check.c verifies: a case of the template, or a small ragged shape. */
struct checked_shape {
    char name[CASE_NAME_SIZE];
    struct shape shape;
    const struct case_outcome *record; /* NULL: a ragged shape, not timed */
    struct errors bound;               /* check.c's error bounds */
    struct launch_plan plan; /* its variant's, with the tensors as the problem's template numbers
                                them */
    struct planned_tensor own[TENSORS_MAX]; /* those of setup */
};

/* The smallest and the largest value of each dimension over the shapes that a variant's trial
   verified. */
struct verified_range {
    int shapes; /* 0: it verified none */
    struct shape least, most;
};

/* One architecture of several: an export in a folder of its own, which has the architecture's name.
 */
struct export_part {
    char architecture[NAME_SIZE], name[NAME_SIZE]; /* name: the prefix of its functions */
    const struct export_request *request;
};

/* The inputs of all write_* functions. */
struct export {
    const struct export_request *request;
    const struct template *template; /* for what is of the problem */
    int solution_count;
    const struct template *solutions[SOLUTIONS_MAX]; /* of the variants, in their order; the first
                                                        is `template` */
    const char *name;
    bool workspaces;           /* some variant needs a workspace */
    bool reference_workspaces; /* the same of the variants that are the reference */
    int workspace_count;       /* workspace tensors of the solution that has most */
    int contents_count;  /* inputs that hold what outputs hold before a call; they follow the others
                          */
    int magnitude_count; /* tensors of magnitudes, which follow all others */
    int setup_count;     /* tensors that only setup takes */
    const char *folder;  /* where the files are written */
    int part_count; /* architectures, the preferred first; 0: one, without a folder of its own */
    const struct export_part *parts;
    int checked_count;
    struct checked_shape *checked;   /* the cases, then the ragged shapes */
    struct verified_range *verified; /* by variant */
};

/* Appends "k, v": the tensors that launches of some case keep in L2. Returns whether there are any.
 */
bool persisting_tensors(const struct export *export, struct strbuf *names);
/* The template of a variant's solution. */
const struct template *variant_template(const struct export *export, int variant);
/* The source of a solution: "kernel.cu", or of several "kernel_SOLUTION.cu". */
enum { SOURCE_FILE_SIZE = NAME_SIZE + 16 };
const char *source_file(const struct export *export, const struct template *solution,
                        char name[SOURCE_FILE_SIZE]);
/* Whether every solution compiles the dimension in: shapes that differ in it share no kernel. */
bool is_specialised(const struct export *export, int dimension);
/* The name of a variant's file: "variant_1.cubin". */
enum { VARIANT_FILE_SIZE = 32 };
const char *variant_file(int variant, const char *extension, char name[VARIANT_FILE_SIZE]);
/* The launcher's identifier of a variant's kernel: KERNEL, KERNEL_2 .... */
enum { SYMBOL_SIZE = NAME_SIZE + 16 };
const char *variant_symbol(int variant, const char *kernel, char symbol[SYMBOL_SIZE]);
/* "D=64,CAUSAL=1", or "" if the template specialises no dimension. */
void variant_specialised(const struct export *export, int variant, struct strbuf *text);
/* "B 1 to 8, S 1 to 512": the dimensions that are not specialised; "none" if no shape was
   verified. */
void variant_verified(const struct export *export, int variant, struct strbuf *text);
/* Appends "D=64,CAUSAL=0 (verified: B 1 to 8); D=128,CAUSAL=0 (...)": for which specialised
   dimensions there are variants, and what was verified for one of them at least. */
void add_served_ranges(const struct export *export, struct strbuf *text);
/* A float literal: 0.25f, 1e-05f, 3.0f. */
void add_real_literal(float value, struct strbuf *text);
/* The export's name in upper case: the prefix of its macros and enumerators. */
void add_upper_name(const struct export *export, struct strbuf *text);
/* `architecture`: "sm_90a". `options`: the other options that change the generated code, each after
   a blank. */
int variant_options(const struct export *export, int variant, char architecture[NAME_SIZE],
                    struct strbuf *options, struct error *error);
/* The architecture whose GPUs run all variants: "sm_90a" if they are of sm_90 and sm_90a. */
int export_architecture(const struct export *export, char architecture[NAME_SIZE],
                        struct error *error);

/* Adds `parts`: architecture, part (its name), device, first, major, minor, exact; any_parts,
   first_part, architectures ("sm_90a, sm_80"). */
void add_parts(const struct export *export, cJSON *values);
/* The values of a file with parts: those of embedded_values, and of add_parts, in which
   `architectures` is that of an export of one, too. NULL after an error. */
cJSON *values_with_architectures(const struct export *export, struct error *error);
/* Adds `libraries`: the rules of the Makefile that build what is linked. */
void add_libraries(const struct export *export, cJSON *values);
/* What callers of the launcher see of the problem, as a text that is equal for equal structs. The
   caller frees it. */
char *header_interface(const struct template *template);

/* Adds what check.c needs for a shape of the user's (check_shape.c). */
int add_shape_functions(const struct export *export, cJSON *values, struct error *error);

/* Fills `solutions`. */
void find_solutions(struct export *export);
/* Fills `workspaces` and `workspace_count`. */
int find_workspaces(struct export *export, struct error *error);
/* Which one of its role a tensor is, from 0. */
int index_in_role(const struct template *template, int tensor);
/* The same of the inputs that hold what outputs hold before a call. */
int contents_index(const struct template *template, int tensor);
/* A scalar's type in C. */
const char *scalar_type(const struct scalar *scalar);
/* Appends a fill as check.c reads it, for a planned tensor: "{8, -2, 2.5, 0, 0, 0}". */
void add_fill(const struct export *export, int tensor, const struct tensor_fill *fill,
              struct strbuf *text);
/* Appends its last three members, of a file. */
void add_fill_file(const struct export *export, int tensor, struct strbuf *text);
/* The number of tensors that a caller gives. */
int parameter_count(const struct template *template);
/* Fills `checked` and `verified`; the caller frees them. */
int find_checked_shapes(struct export *export, struct error *error);

/* Rejects names of the export, of dimensions, tensors or derived quantities that are not usable as
   C identifiers or file names. */
int check_names(const struct export *export, struct error *error);

/* The embedded files FILE.in, with mustache holes except in the last seven (embedded.c), in a
   folder of search/. */
#define EMBEDDED_FILES(F)                                                                          \
    F(LAUNCHER, export, launcher_c)                                                                \
    F(LAUNCH, export, launch_c)                                                                    \
    F(REFERENCE_LAUNCH, export, reference_launch_c)                                                \
    F(HEADER, export, header_h)                                                                    \
    F(CASES, export, cases_h)                                                                      \
    F(ARCHITECTURES, export, architectures_c)                                                      \
    F(ARCHITECTURES_MAKEFILE, export, architectures_makefile)                                      \
    F(LIBRARIES_MAKEFILE, export, libraries_makefile)                                              \
    F(WHICH, export, which_c)                                                                      \
    F(MAKEFILE, export, makefile)                                                                  \
    F(CALL_HEADER, export, call_h)                                                                 \
    F(CALL, export, call_c)                                                                        \
    F(TORCH, export, torch_cpp)                                                                    \
    F(TORCH_MODULE, export, torch_py)                                                              \
    F(CTYPES, export, ctypes_py)                                                                   \
    F(JAX, export, jax_cpp)                                                                        \
    F(JAX_MODULE, export, jax_py)                                                                  \
    F(WHEEL, export, wheel_py)                                                                     \
    F(PYPROJECT, export, pyproject)                                                                \
    F(CMAKE, export, cmake)                                                                        \
    F(PKG_CONFIG, export, pkg_config)                                                              \
    F(KERNEL, export, kernel_cu)                                                                   \
    F(VARIANT, export, variant_h)                                                                  \
    F(CHECK, export, check_c)                                                                      \
    F(SHAPE, export, shape_h)                                                                      \
    F(VERIFY, export, verify_h)                                                                    \
    F(NUMBERS, export, numbers_h)                                                                  \
    F(HOST, export, host_h)                                                                        \
    F(PROGRAM_REFERENCE, export, program_reference_c)                                              \
    F(FILLS, template, fills_h)
#define EMBEDDED_ENUMERATOR(name, folder, file) EMBEDDED_##name,
enum embedded_file { EMBEDDED_FILES(EMBEDDED_ENUMERATOR) };
/* A JSON object with the values that all of them use: name, prefix (the name in upper case),
   template and sources (the names of the solutions' sources). */
cJSON *embedded_values(const struct export *export);
/* Adds a list under `key`: an object with the `number`, from 1, of each of `count` variants. */
cJSON *embedded_add_units(cJSON *values, const char *key, int first, int count);
/* Variants and those that are the reference; whether the default genome is. And whether an exported
   variant is that genome itself. */
int count_all_variants(const struct export *export);
bool has_default_reference(const struct export *export);
bool is_default_genome(const struct export *export, int variant);
/* Adds `itself`: a line on variants that are their own reference; empty if there are none. */
void add_itself(const struct export *export, cJSON *values);
/* Adds a block of text without its last newline, since the hole's line ends in one; releases it. */
void embedded_add_text(cJSON *values, const char *key, struct strbuf *block);
/* Appends the filled file to `text`; takes ownership of `values`. */
void embedded_fill(enum embedded_file file, cJSON *values, struct strbuf *text);
/* Appends a file without holes. */
void embedded_copy(enum embedded_file file, struct strbuf *text);

/* Adds what makes nvcc compile kernels that are C++ templates: their addresses, with commas. */
void add_kernel_addresses(const struct kernel_list *kernels, struct strbuf *text);

/* Appends the text of a file. */
typedef int export_writer(const struct export *export, struct strbuf *text, struct error *error);

/* Writes and releases the text. `written` < 0: only releases it and returns -1. */
int write_text(const struct export *export, const char *name, int written, struct strbuf *text,
               struct error *error);
/* Writes a file whose text `write` makes. A name that starts with "." or "_" follows the export's.
 */
int write_export_file(const struct export *export, const char *name, export_writer *write,
                      struct error *error);
/* The files of `request->with`; and the signature of the manifest, if one is asked for. */
int write_frameworks(const struct export *export, struct error *error);
int check_framework_names(const struct export *export, struct error *error);
int sign_export(const struct export *export, struct error *error);
/* Makes a C identifier from the folder's name. */
void export_make_name(const char *folder, char name[NAME_SIZE]);

/* Each write_* function appends the text of one file. */
int write_kernel(const struct export *export, const struct template *solution, struct strbuf *text,
                 struct error *error);
int write_variant_header(const struct export *export, int variant, struct strbuf *text,
                         struct error *error);
int write_header(const struct export *export, struct strbuf *text, struct error *error);
int write_launcher(const struct export *export, struct strbuf *text, struct error *error);
int write_cases(const struct export *export, struct strbuf *text, struct error *error);
int write_check(const struct export *export, struct strbuf *text, struct error *error);
int write_shape(const struct export *export, struct strbuf *text, struct error *error);
int write_verify(const struct export *export, struct strbuf *text, struct error *error);
int write_numbers(const struct export *export, struct strbuf *text, struct error *error);
/* The reference on the CPU: its file's name and function. And, where a reference in `real` is
   compiled for the host, that file. */
const char *cpu_reference_file(const struct export *export);
const char *cpu_reference_function(const struct export *export, char name[SYMBOL_SIZE]);
/* Whether there is one on the CPU; and one on the GPU, which check.c runs at large shapes. */
bool has_cpu_reference(const struct export *export);
bool has_gpu_reference(const struct export *export);
/* reference.c, which runs the template's program, and what calls its function in Python. */
int write_program_reference(const struct export *export, struct strbuf *text, struct error *error);
int write_reference_runner(const struct export *export, struct strbuf *text, struct error *error);
int write_host_reference(const struct export *export, struct strbuf *text, struct error *error);
/* The template's reference in CUDA with its includes inlined, and what launches its kernels. */
int write_reference_source(const struct export *export, struct strbuf *text, struct error *error);
int write_reference_launch(const struct export *export, struct strbuf *text, struct error *error);
/* What launches the default genome, as the launcher does the others. */
int write_default_launch(const struct export *export, struct strbuf *text, struct error *error);
/* The same of its setup, if it has one. */
int write_setup_source(const struct export *export, struct strbuf *text, struct error *error);
int write_setup_launch(const struct export *export, struct strbuf *text, struct error *error);
int write_fills(const struct export *export, struct strbuf *text, struct error *error);
/* NAME_call.h and NAME_call.c. */
int write_call_header(const struct export *export, struct strbuf *text, struct error *error);
int write_call(const struct export *export, struct strbuf *text, struct error *error);
/* NAME_torch.cpp, NAME.py and NAME_ctypes.py; NAME_jax.cpp and NAME_jax.py;
   build_wheel.py and pyproject.toml. */
int write_torch_source(const struct export *export, struct strbuf *text, struct error *error);
int write_torch_module(const struct export *export, struct strbuf *text, struct error *error);
int write_ctypes_module(const struct export *export, struct strbuf *text, struct error *error);
int write_wheel_builder(const struct export *export, struct strbuf *text, struct error *error);
int write_pyproject(const struct export *export, struct strbuf *text, struct error *error);
int write_jax_source(const struct export *export, struct strbuf *text, struct error *error);
int write_jax_module(const struct export *export, struct strbuf *text, struct error *error);
int write_makefile(const struct export *export, struct strbuf *text, struct error *error);
int write_cmake(const struct export *export, struct strbuf *text, struct error *error);
int write_pkg_config(const struct export *export, struct strbuf *text, struct error *error);
/* Call it last: it lists the other files with their hashes. */
int write_manifest(const struct export *export, struct strbuf *text, struct error *error);
/* The same of several architectures, whose folders have manifests of their own. */
int write_architectures_manifest(const struct export *export, struct strbuf *text,
                                 struct error *error);

#endif
