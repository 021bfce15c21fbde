/*
 * parts: what the writers of one export share. Not for anybody outside freeze.
 *
 * A *formula* is a template's expression as C: genes, specialised dimensions, device attributes and
 * what follows from these are constants; other dimensions are members of `shape`; other derived
 * quantities are local variables, declared by formulas_locals before the code that reads them.
 */
#ifndef EVOTILE_FREEZE_PARTS_H
#define EVOTILE_FREEZE_PARTS_H

#include "base/text.h"
#include "freeze/freeze.h"

/* The prefix of the functions that formulas call: whole numbers of 64 bits. */
#define FORMULA_PREFIX "int64_"

/* Each unit's own. */
struct formulas {
    const struct template *template;
    const char *type;   /* of local variables: int64_t or double */
    struct scope scope; /* the space's, its dimensions renamed shape->S or (double)shape->S */
    struct slots known;
    int64_t values[SLOTS_MAX];
    bool launches; /* `tensors` is at hand: strides are those given there, if there are any */
};

/* In `as_double`, dimensions are cast so that no product overflows, however large the shape. */
int formulas_init(struct formulas *formulas, const struct template *template,
                  const struct frozen_unit *unit, bool as_double, struct error *error);
void formula_add(const struct formulas *formulas, const struct expression *expression,
                 struct text *text);
/* Whether the expression is a constant here, and which. */
bool formula_constant(const struct formulas *formulas, const struct expression *expression,
                      int64_t *value);
/* Adds declarations of the derived quantities that `code` reads, or those that they read. */
void formulas_locals(const struct formulas *formulas, const char *code, struct text *text);

/* One shape that check.c proves: a case of the template, or a small ragged one. */
struct checked_shape {
    char name[CASE_NAME_SIZE];
    struct shape shape;
    const struct case_outcome *record; /* NULL: a ragged one, not timed */
    struct errors bound;               /* that check.c holds it to */
    struct plan plan;
};

/* Everything that the writers need. */
struct export {
    const struct freeze_request *request;
    const struct template *template;
    const char *name;
    bool workspaces;     /* some unit needs one */
    int workspace_count; /* of the template's tensors */
    const char *folder;  /* where the files go */
    int checked_count;
    struct checked_shape *checked; /* the cases, then the ragged shapes */
};

/* "kernel", "kernel_2": without extension. */
enum { STEM_SIZE = 24 };
const char *unit_stem(int unit, char stem[STEM_SIZE]);
/* What the launcher calls a template's kernel of that unit: KERNEL, KERNEL_2 .... */
enum { SYMBOL_SIZE = NAME_SIZE + 16 };
const char *unit_symbol(int unit, const char *kernel, char symbol[SYMBOL_SIZE]);
/* "D=64,CAUSAL=1", or "" where the template specialises nothing. */
void unit_specialised(const struct export *export, int unit, struct text *text);
/* The export's name in capitals: the prefix of its macros and enumerators. */
void add_upper(const struct export *export, struct text *text);
/* "sm_90a", and the options beside the architecture that change the program, each after a blank. */
int unit_options(const struct export *export, int unit, char architecture[NAME_SIZE],
                 struct text *options, struct error *error);

/* Fills `workspaces`. */
int find_workspaces(struct export *export, struct error *error);
/* Fills `checked`; the caller frees it. */
int find_checked(struct export *export, struct error *error);

/* Refuses a name of the export, of a dimension or of a tensor that C or our files cannot bear. */
int check_names(const struct export *export, struct error *error);

/* The embedded template files (embedded.c). */
enum embedded_file {
    EMBEDDED_LAUNCHER,
    EMBEDDED_HEADER,
    EMBEDDED_CASES,
    EMBEDDED_MAKEFILE,
    EMBEDDED_COUNT
};
/* A JSON object with the values that all of them use: name, prefix (the name in upper case) and
   template. */
cJSON *embedded_values(const struct export *export);
/* Adds a block of text without its last newline, which the hole's own line has; releases `block`.
 */
void embedded_add_text(cJSON *values, const char *key, struct text *block);
/* Appends the filled file to `text`; takes ownership of `values`. */
void embedded_fill(enum embedded_file file, cJSON *values, struct text *text);

/* The writers: each gives the text of one file. */
int write_kernel(const struct export *export, int unit, struct text *text, struct error *error);
int write_cubin(const struct export *export, int unit, struct text *text, struct error *error);
int write_header(const struct export *export, struct text *text, struct error *error);
int write_launcher(const struct export *export, struct text *text, struct error *error);
int write_cases(const struct export *export, struct text *text, struct error *error);
int write_makefile(const struct export *export, struct text *text, struct error *error);
/* Last: it lists the other files, with their hashes. */
int write_manifest(const struct export *export, struct text *text, struct error *error);

#endif
