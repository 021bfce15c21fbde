/*
 * load: internal interface between the files that read a template's JSON. Private to template/.
 *
 *     struct expression *when = NULL;
 *     if (load_optional_expression(template, &object, "when", &when, error) < 0)
 *         return -1;
 */
#ifndef EVOTILE_TEMPLATE_LOAD_H
#define EVOTILE_TEMPLATE_LOAD_H

#include "template/template.h"

/* The roots of problem.json and of solution.json; twice that of template.json. */
struct template_roots {
    struct json problem, solution;
};

/* problem.c: reads the files of the folder that was named and checks their keys; whether they are
   two; and the file that has the launches. */
int open_template(struct template *template, const char *folder, const char *solution,
                  struct template_roots *roots, struct error *error);
bool is_split(const struct template *template);
const char *solution_file(const struct template *template);

/* A list of template.json: what reads one of its elements or members. */
struct section {
    const char *key; /* NULL: the end of a table */
    int (*load)(struct template *template, const struct json *value, struct error *error);
    bool object,
        required;     /* members of an object instead of elements of an array; it must be there */
    int maximum;      /* of elements; 0: `load` checks it */
    const char *noun; /* "more than 8 options" */
};
/* Reads the lists of a table, in its order. */
int load_sections(struct template *template, const struct json *object,
                  const struct section *sections, struct error *error);

/* Whether a text is a name in C; and reads the key of an object's member as one. */
bool load_is_identifier(const char *name);
int load_key(const struct json *value, char name[NAME_SIZE], struct error *error);
/* Reads the object's key "about", which may be missing. */
int load_about(const struct json *object, char about[ABOUT_SIZE], struct error *error);
/* The template owns every expression that is parsed here. */
struct expression *load_parse(struct template *template, const char *text, struct error *error);
int load_expression(struct template *template, const struct json *value,
                    struct expression **expression, struct error *error);
/* Reads an expression as text: a string, or a whole number. */
int load_expression_text(const struct json *value, char text[EXPRESSION_TEXT_MAX],
                         struct error *error);
int load_required_expression(struct template *template, const struct json *object, const char *key,
                             struct expression **expression, struct error *error);
/* Leaves `expression` unchanged if the object has no such key. */
int load_optional_expression(struct template *template, const struct json *object, const char *key,
                             struct expression **expression, struct error *error);
/* Rejects an expression that reads a real dimension: its slot holds the float's bits, not a
   number. */
int load_reject_real(const struct template *template, const struct json *value,
                     const struct expression *expression, struct error *error);
/* Rejects an expression of problem.json that reads what a solution adds. */
int load_reject_genes(const struct template *template, const struct json *value,
                      const struct expression *expression, struct error *error);
/* Reads a real number as the bits of a float; a number outside the range of float is an error. */
int load_float_bits(const struct json *value, int64_t *bits, struct error *error);
/* Puts file, line and path before the text of an error that lacks them; returns -1. */
int load_locate_error(const struct json *value, struct error *error);

/* objective.c: reads what a search compares. */
int load_objective(struct template *template, const struct json *root, struct error *error);

/* genes.c: reads one gene, but for its condition. */
int load_gene(struct template *template, const struct json *value, struct error *error);

/* space.c, called in this order: what problem.json adds, derived quantities and constraints; genes,
   derived quantities and constraints; insights, which must follow everything that adds names. */
int load_problem_space(struct template *template, const struct json *problem, struct error *error);
int load_space(struct template *template, const struct json *root, struct error *error);
int load_pathologies(struct template *template, const struct json *root, struct error *error);
int load_insights(struct template *template, const struct json *root, struct error *error);

/* kernels.c: reads the "kernel" of a launch. */
int load_kernel_name(const struct json *launch, char kernel[KERNEL_NAME_SIZE], struct error *error);

/* tensors.c: tensors and tensor maps, and their indices by name, or -1. */
extern const struct section tensor_sections[], workspace_sections[], map_sections[];
int find_tensor(const struct template *template, const char *name);
int find_map(const struct template *template, const char *name);

/* fill.c: a fill; that of a tensor whose role and dtype are read; whether one with strides can be
   filled so. */
int load_fill(struct template *template, const struct json *value, struct declared_fill *fill,
              struct error *error);
int load_tensor_fill(struct template *template, const struct json *value, struct tensor *tensor,
                     struct error *error);
int check_strided_fill(const struct json *value, const struct tensor *tensor, struct error *error);
/* Scalars, their indices by name, or -1; and an argument {"i32": NAME}: 1, or 0 if that is the name
   of no scalar. */
extern const struct section scalar_sections[];
int find_scalar(const struct template *template, const char *name);
int load_scalar_argument(const struct template *template, const struct json *value,
                         struct argument *argument, struct error *error);
/* Computes the fill of a tensor, or of a scalar, for the values of a case. */
int plan_fill(const struct template *template, const char *name,
              const struct declared_fill *declared, const int64_t *values,
              const struct planned_tensor *tensor, struct tensor_fill *fill, struct error *error);
int plan_scalars(const struct template *template, const int64_t *values, struct launch_plan *plan,
                 struct error *error);

/* setup.c: the launches of setup, when all others are read; then whether every fill has a value in
   every case. */
int load_setup(struct template *template, const struct template_roots *roots, struct error *error);
int check_fills(struct template *template, bool derived_cases, struct error *error);
/* before.c: what outputs hold before a call, and inputs that are variables, when all tensors are
   read. And { "before": "x" } as an argument: `of_kernel`, of one of the candidate's launches. */
extern const struct section before_sections[];
int check_array_names(const struct template *template, const struct json *value,
                      struct error *error);
/* A solution's names of such variables, before its launches are read. */
extern const struct section symbol_sections[];
int load_before_argument(const struct template *template, const struct json *value, bool of_kernel,
                         struct argument *argument, struct error *error);

/* tolerance.c: what an output's elements may be off by, whose role, dtype and precision are read;
   then the tensors of magnitudes, when all others are; then whether the launches fit them. */
int load_tolerance(const struct json *value, struct tensor *tensor, struct error *error);
extern const struct section magnitude_sections[];
int check_magnitudes(const struct template *template, const struct template_roots *roots,
                     struct error *error);
/* Sets the tolerances of a genome's plan, of which everything else is known. */
void plan_tolerances(const struct template *template, struct launch_plan *plan);

/* launches.c: tensors, launches, options, source files; the name of a file in a folder, which the
   caller frees. */
int load_file_name(const char *folder, const struct json *value, char **name, struct error *error);
int load_kernel(struct template *template, const struct template_roots *roots, struct error *error);
/* Whether a launch takes the tensor itself. */
bool is_launch_argument(const struct launch_list *list, int tensor);
/* Reads an object {"source", "launches"}: the reference or the plain kernel. */
int load_program(struct template *template, const struct json *root, const char *key, char **source,
                 struct launch_list *launches, struct error *error);

/* recorded_template.c: a template that is a recorded tuning space; its file is `folder`. */
int load_recorded_template(struct template *template, const struct template_setting *setting,
                           struct error *error);
void release_recorded_template(struct template *template);

/* reference.c: the reference, the plain kernel and the reference on the CPU. */
int load_references(struct template *template, const struct json *root, struct error *error);
/* recorded_answers.c: recorded answers, of the template's cases at least. */
int load_answers(struct template *template, const struct json *root, const struct json *list,
                 struct error *error);
void release_answers(struct template *template);
/* real_source.c: refuses a source in `real` that would compute in float or, for the host, that no
   C++ compiler takes. */
int check_real_source(const struct template *template, bool for_host, struct error *error);

/* error_model.c: stress inputs. */
int load_error_model(struct template *template, const struct template_roots *roots,
                     struct error *error);
/* relaxed.c: relaxed genomes; and constraints that make them invalid, before the space is sealed.
 */
int load_relaxed(struct template *template, const struct template_roots *roots,
                 struct error *error);
int forbid_relaxed(struct template *template, const struct json *solution, struct error *error);
/* Evaluates whether a genome is relaxed, and the cost of a dropped tile if so. */
int plan_relaxed(const struct template *template, const int64_t *values, struct launch_plan *plan,
                 struct error *error);

/* source.c: the hash of everything that a candidate may depend on; the kernel's source with #line
   directives, without the macros before it, which the caller frees. */
int template_hash(struct template *template, struct error *error);
char *template_lined_kernel_source(const struct template *template, struct error *error);
char *template_lined_reference_source(const struct template *template, struct error *error);

/* source.c: adds the #defines before the source. `values` are those of the genome and the variant;
   NULL: macros are 0. */
struct strbuf;
void template_define(const struct template *template, const struct genome *genome, int variant,
                     const int64_t *values, struct strbuf *text);

/* macro_names.c: refuses a source that gives a name of template.json another meaning, or has what
   no template can have (unsupported.h). */
int check_macro_names(const struct template *template, struct error *error);

#endif
