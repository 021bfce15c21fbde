/*
 * export: writes a champion as a self-contained folder that does not need evotile, and reads its
 * manifest.
 *
 * The folder holds the source (kernel.cu; of several solutions kernel_SOLUTION.cu for each), the
 * genes of each variant (variant_1.h ...) and its
 * machine code that was timed (variant_1.cubin ...), a C launcher that includes the latter (NAME.h,
 * NAME.c), check.c with its headers and the references on the CPU (reference.c) and on the GPU
 * (reference.cu, reference_launch.c; or, where the default genome is the reference, its own
 * variants), what makes its inputs (fills.h, and if the template has a
 * setup, setup.cu and setup_launch.c), a Makefile that needs only nvcc, manifest.json, and
 * template/, a copy of the template with which `replay` evaluates the kernel: of a problem, with
 * the exported solutions alone. The source is for
 * reading, for replay and for compiling for other GPUs: nvcc generates different machine code from
 * it than NVRTC, in one measurement 9 % slower.
 *
 * A *variant* is one compilation: a genome for one template variant (template_variant). A joint
 * champion has one variant per template variant. With `objective: per_case` each case has its own
 * genome, perhaps of another solution, and the launcher selects: the variant that was tuned for
 * exactly this shape, else, among the variants with the same specialised dimensions that admit the
 * shape, the one tuned for the case nearest in operations; with `dispatch` the one that a decision
 * tree names, which was fitted to times of all variants. The launcher's interface is that of the
 * problem: a variant's solution decides on workspaces, tensor maps and the compiler's options.
 *
 *     struct export_request request = {.template = templates[0], .setting = &setting,
 *                                      .variants = variants, .cases = cases};
 *     request.variant_count = export_assign_variants(templates, genomes, count, variants, cases);
 *     ...; // compile each variant (template_source, template_options) and set its cubin and key;
 *     ...; // set each case's outcome
 *     if (export_write(&request, "kernels/rows_l4", &error) < 0)
 *         ...;
 *
 *     struct manifest manifest;
 *     if (manifest_read(&manifest, "kernels/rows_l4", &error) < 0)
 *         ...;
 *     manifest_release(&manifest);
 *
 * With `with` the folder has what frameworks call the kernel with, too: NAME_call.h and NAME_call.c
 * (call.c), and modules for PyTorch, JAX and ctypes, which are written in terms of these.
 *
 * It compiles nothing and uses no device. Expressions in the output are the template's own, with
 * genes, specialised dimensions and device attributes substituted as constants.
 */
#ifndef EVOTILE_EXPORT_EXPORT_H
#define EVOTILE_EXPORT_EXPORT_H

#include "base/strbuf.h"
#include "dispatch/regret.h"
#include "dispatch/regret_shapes.h"
#include "dispatch/tree.h"
#include "outcome/key.h"
#include "outcome/outcome.h"
#include "template/template.h"

/* ---- writing ---- */

struct export_variant {
    const struct template *template; /* that of its solution, loaded for all cases */
    const struct genome *genome;
    int case_index;    /* the first case that it serves */
    const void *cubin; /* as compiled by NVRTC; the caller owns it */
    size_t cubin_bytes;
    const char *kernels;   /* as in struct device_image */
    const struct key *key; /* of the trial that measured this genome; every part is set */
    struct resources resources;
    const struct conditions *conditions; /* of the trial; NULL: not known */
    const char *checks, *uses;           /* as outcome_checks gives it, as in struct outcome */
    const struct template *held_out; /* the solution's template of the held-out cases that the trial
                                        passed; NULL: none */
};

struct export_case {
    int variant;
    const struct case_outcome *outcome; /* its verified, timed outcome */
    double ratio_to_default;            /* p50 of the default genome / p50; 0: unknown */
    double ratio_to_baseline;           /* time of the baseline / time; 0: unknown */
    double ratio_low, ratio_high;       /* its 99 % interval, of a duel; 0: it is an estimate, from
                                           separate timings */
};

/* The tree that chooses a variant, and what it was fitted to. */
struct export_dispatch {
    const struct tree *tree; /* its kernels are the variants */
    double within;           /* fraction of the fastest time within which the genomes are */
    int genomes, exported_genomes;
    bool fewest;    /* fewer genomes are not enough */
    bool predicted; /* the times are predictions */
    int unfit;      /* shapes that no genome fits */
    int shape_count;
    const struct shape *shapes;
    const bool *fitted;                /* of a shape: the tree was fitted to it */
    const double *us;                  /* [shape][variant]; NAN: it does not fit */
    const bool *verified;              /* [shape][variant]: its trial there was verified; an
                                          emulated device leaves out what takes too long */
    const double *least_us;            /* of a shape: the fastest of all genomes; NAN: none fits */
    struct regret held_out, of_fitted; /* of the choices at shapes that fitted no tree, and at the
                                          others */
    int worst_shape;                   /* of held_out */
    const char *ranges;                /* the config's "ranges", as JSON; NULL: none */
};

/* The inputs of a tree for a shape: the dimensions that its inputs name. */
void export_tree_inputs(const struct tree *tree, const struct template *template,
                        const struct shape *shape, int64_t inputs[TREE_INPUTS_MAX]);

/* What else to write, for the frameworks that call the kernel (export_with). */
enum {
    EXPORT_WITH_CTYPES = 1, /* NAME_ctypes.py: for any framework with DLPack, without a compiler */
    EXPORT_WITH_TORCH = 2,  /* NAME.py and NAME_torch.cpp, and NAME_ctypes.py */
    EXPORT_WITH_JAX = 4,    /* NAME_jax.py and NAME_jax.cpp, and NAME_ctypes.py */
};

struct export_request {
    const struct template *template; /* the first variant's: whatever is of the problem is read from
                                        it, and is the same in the others */
    const char *reference_kernels;   /* as in struct device_image */
    const char *setup_kernels;       /* the same of the template's setup */
    const struct template_setting *setting; /* with which the templates were loaded, but for the
                                               solution */
    const char *name; /* a C identifier: the functions' prefix. NULL: from the folder's name */
    int variant_count;
    int reference_count; /* of variants behind these, with the default genome: the reference of
                            REFERENCE_DEFAULT_GENOME, one for each template variant; else 0 */
    const struct export_variant *variants;
    const struct export_case *cases;        /* one per case of the template, in its order */
    const struct export_dispatch *dispatch; /* NULL: variants are chosen by operations */
    bool predicted;                         /* the latencies are predictions */
    double score_us;                        /* as in struct outcome; 0: no score over all cases */
    const char *baseline;                   /* its name; NULL: none */
    const char *replay;                     /* the command that evaluates the folder again */
    unsigned with;                          /* EXPORT_WITH_*, or 0 */
    bool force;                             /* replace an existing export */
    const char *sign_key; /* the file of a secret key, for manifest.json.minisig; NULL: the
                             export is not signed */
};

/* Assigns cases to variants. For each case there are a genome and the template of its solution;
   cases with equal genomes of one solution share a variant. Fills `variants` (template, genome,
   case_index, and no checks; an array as long as `cases`) and each case's variant; returns the
   number of variants. */
int export_assign_variants(const struct template *const *templates,
                           const struct genome *const *genomes, int case_count,
                           struct export_variant *variants, struct export_case *cases);

/* Fills variants of the default genome, one for each template variant (an array as long as the
   template's cases), and returns their number. Their `genome` must outlive them; keys and machine
   code are the caller's to set. */
int export_add_references(const struct template *template, const struct genome *genome,
                          struct export_variant *variants);

/* Writes the folder atomically: completely beside `folder`, then renamed into place. Without
   `force` an existing folder is an error; with it, only an earlier export (a folder with a
   manifest.json) is replaced. On failure an existing folder is unchanged, and no temporary files
   remain. */
int export_write(const struct export_request *request, const char *folder, struct error *error);

/* The same for several architectures, of one problem: each request's export becomes a folder
   inside, named by its architecture, and NAME.h and NAME.c choose among them by the current device.
   The requests' architectures differ; the first request decides on name, with, force and sign_key.
 */
enum { ARCHITECTURES_MAX = 8 };
int export_write_architectures(const struct export_request *const *requests, int count,
                               const char *folder, struct error *error);

/* Whether a caller of the launcher gives the tensor. */
bool is_parameter(const struct tensor *tensor);

/* ---- reading ---- */

/* Of a kernel of one solution; of several; and of several architectures, which manifest_read
   refuses with the names of their folders: each has a manifest of its own. Earlier versions of
   evotile refuse the latter two by their numbers. */
enum { MANIFEST_FORMAT = 1, MANIFEST_FORMAT_SOLUTIONS = 2, MANIFEST_FORMAT_ARCHITECTURES = 3 };

/* The document owns the strings. */
struct manifest_variant {
    const char *solution;       /* of the template; NULL: its only one */
    const char *source, *cubin; /* file names */
    const char *header;         /* that of its macros; NULL: the source has them */
    const char *genome;         /* canonical text: genome_parse */
    const char *genome_mark;    /* 16 hexadecimal digits; NULL in exports of earlier versions */
    struct json specialised;    /* an object of dimensions; its value is NULL without it */
    struct key key;
};

struct manifest_case {
    struct json shape; /* an object of dimensions, for template_read_shape */
    int variant;
    double p10_us, p50_us, p90_us;
    double operations;                          /* 0: unknown */
    double ratio_to_default, ratio_to_baseline; /* 0: unknown */
};

struct manifest {
    struct json_document document;
    struct tree *tree;  /* that chooses the variant; owned. NULL: the nearest in operations */
    struct json ranges; /* as in a config; its value is NULL without them */
    int format;
    const char *name, *template_name;
    struct hash template_hash;       /* of several solutions, of all of them */
    char template_folder[PATH_SIZE]; /* the copy inside the export, for template_load */
    const char *device, *baseline;   /* the device's name; NULL: no baseline */
    int smem_limit;
    bool predicted;
    double score_us;
    int variant_count, case_count;
    struct manifest_variant variants[CASES_MAX];
    struct manifest_case cases[CASES_MAX];
};

/* Reads FOLDER/manifest.json. Every error is one line with file, line and path. Release the
   manifest only after success. The listed files' hashes are not checked: see manifest_verify. */
int manifest_read(struct manifest *manifest, const char *folder, struct error *error);
void manifest_release(struct manifest *manifest);

/* What the manifest of an export with a tree says of its choices: at every shape that was timed,
   and the stated regret, of the shapes that the tree was not fitted to. Release the shapes only
   after success. */
struct manifest_regret {
    double within; /* of the fastest, as a fraction */
    int genomes, exported_genomes;
    bool predicted;
    struct regret stated;
    struct regret_shapes shapes;
};
int manifest_read_regret(const struct manifest *manifest, struct manifest_regret *regret,
                         struct error *error);

/* The text of a variant's source, for NVRTC, with the variant's header inlined. The caller frees
   it. */
char *manifest_read_source(const struct manifest *manifest, const char *folder, int variant,
                           struct error *error);

/* Compares the folder with its manifest: the hash of each file, and the genome's mark inside the
   machine code. Appends "kernel.cu changed, extra.h added, reference.c missing" to `changes`: what
   the folder's Makefile, the launcher or `replay` would read. A link counts as changed; what `make`
   writes there and files of other kinds do not count. Of one architecture of several all is
   compared that is linked together: the folder above. Exports of earlier versions list fewer files:
   *whole is then false, and what is not listed was not compared. */
int manifest_verify(const struct manifest *manifest, const char *folder, struct strbuf *changes,
                    bool *whole, struct error *error);
/* Whether manifest.json bears the signature of this public key (base/signature.h), and that of the
   folder above of several architectures, and both list digests that cannot be forged: exports of
   earlier versions do not. */
int manifest_verify_signature(const char *folder, const char *key, struct error *error);

#endif
