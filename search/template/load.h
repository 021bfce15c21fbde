/* load: the parts of reading a template's JSON that its files share. Not for anybody else. */
#ifndef EVOTILE_TEMPLATE_LOAD_H
#define EVOTILE_TEMPLATE_LOAD_H

#include "template/template.h"

int load_name(const struct json *value, char name[NAME_SIZE], struct error *error);
/* The object's key "about", which may be missing. */
int load_about(const struct json *object, char about[ABOUT_SIZE], struct error *error);
int load_expression(const struct template *template, const struct json *value,
                    struct expression **expression, struct error *error);
/* An expression as it is written: a string, or a whole number. */
int load_expression_text(const struct json *value, char text[EXPRESSION_TEXT_MAX],
                         struct error *error);
/* Leaves `expression` alone where the object has no such key. */
int load_optional_expression(const struct template *template, const struct json *object,
                             const char *key, struct expression **expression, struct error *error);
/* Refuses an expression over a real dimension, which is no number there but its bits. */
int load_whole(const struct template *template, const struct json *value,
               const struct expression *expression, struct error *error);
/* A real number as the bits that a real dimension has; one that no float holds is an error. */
int load_real(const struct json *value, int64_t *bits, struct error *error);
/* Puts file, line and path before the text of an error that lacks them; returns -1. */
int load_located(const struct json *value, struct error *error);

/* space.c, in this order: genes, derived quantities and constraints; niches; insights, after all
   that adds names. */
int load_space(struct template *template, const struct json *root, struct error *error);
int load_niches(struct template *template, const struct json *root, struct error *error);
int load_insights(struct template *template, const struct json *root, struct error *error);

/* kernel.c: tensors, launches, options, source files. */
int load_kernel(struct template *template, const struct json *root, struct error *error);
void release_kernel(struct template *template);
/* An object {"source", "launches"}, as the reference and the plain kernel are. */
int load_program(struct template *template, const struct json *root, const char *key, char **source,
                 struct launch_list *launches, struct error *error);

/* table.c: a template that is a recorded tuning space, in the file `folder`. */
int load_table(struct template *template, const struct template_setting *setting,
               struct error *error);
void release_table(struct template *template);

/* judging.c: the plain kernel, relaxed genomes, stress inputs. */
int load_judging(struct template *template, const struct json *root, struct error *error);
void release_judging(struct template *template);
/* Makes relaxed genomes invalid; before the space is sealed. */
int forbid_relaxed(struct template *template, const struct json *root, struct error *error);

/* source.c: the hash of everything that a candidate may depend on. */
int template_hash(struct template *template, struct error *error);

#endif
