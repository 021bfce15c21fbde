/*
 * translate: conditions in Python over tuning parameters become constraints in the language of
 * templates (space/expression.h).
 *
 *     struct import_space space = {0};
 *     import_add_parameter(&space, "block_size_x", &values, &error);
 *     struct import_texts texts = {0};
 *     if (import_condition(&space, "block_size_x * tile in [32, 64]", &texts, &error) < 0)
 *         return -1;
 *     import_texts_release(&texts);
 *     import_space_release(&space);
 *
 * A translation is compared with Python's own values, over every combination of the parameters that
 * the condition reads or, of too many, over random ones. What has no counterpart, and what
 * differs, becomes a table of all combinations; a note says so. A combination for which Python
 * raises an error is excluded.
 */
#ifndef EVOTILE_IMPORT_TRANSLATE_H
#define EVOTILE_IMPORT_TRANSLATE_H

#include "base/strbuf.h"
#include "import/python.h"
#include "space/space.h"

/* A list of texts that it owns. */
struct import_texts {
    char **items;
    int count;
};
void import_texts_add(struct import_texts *texts, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void import_texts_release(struct import_texts *texts);
/* Appends the texts with an operator between them, as a tree of little depth; `of_none` if there
   are none. */
void import_texts_join(const struct import_texts *texts, const char *op, const char *of_none,
                       struct strbuf *text);

struct import_parameter {
    char original[PYTHON_NAME_SIZE]; /* in the description */
    char name[NAME_SIZE];            /* of the gene: the same, or renamed */
    bool words;                      /* not all values are whole numbers: the gene has words */
    int count;
    struct python_value values[DOMAIN_MAX]; /* whole numbers ascend */
    char labels[DOMAIN_MAX][NAME_SIZE];     /* of words: what stands for each value */
    int default_index;
};

struct import_space {
    struct import_parameter *parameters;
    int count;
    struct import_texts originals; /* the names of all parameters, which no other gene gets */
    struct python_heap heap;       /* of their values */
    struct import_texts notes;     /* what the user should know: renamed, sampled */
};
void import_space_release(struct import_space *space);

/* Adds a parameter with the values of a list. */
int import_add_parameter(struct import_space *space, const char *name,
                         const struct python_value *list, struct error *error);

/* Translates a condition; adds one constraint, or several that must all hold. */
int import_condition(struct import_space *space, const char *condition, struct import_texts *texts,
                     struct error *error);

/* Translates an expression for a launch, whose value is a whole number, rounded as Python's int
   does. `scope` has further names that are constants. An error if it has no counterpart. */
int import_number(struct import_space *space, const char *expression,
                  const struct python_scope *scope, char text[EXPRESSION_TEXT_MAX],
                  struct error *error);

#endif
