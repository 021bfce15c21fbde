/*
 * mutant_kinds: how an instruction of PTX is broken, one function for each kind of mutant
 * (mutants.h). Private to lint/.
 *
 *     struct site site = {0};
 *     struct strbuf text = {0}, change = {0};
 *     for (const struct mutant_kind *kind = mutant_kinds; kind->name != NULL; kind++)
 *         if (kind->make(&site, &text, &change))
 *             puts(change.bytes);
 */
#ifndef EVOTILE_LINT_MUTANT_KINDS_H
#define EVOTILE_LINT_MUTANT_KINDS_H

#include "base/strbuf.h"
#include "ptx/ast.h"

enum { SITE_OPERANDS_MAX = 8 };

/* An instruction of the text. */
struct site {
    const struct ast *ast;
    const struct function *function;
    int index; /* of the statement in the function */
    const struct statement *statement;
    size_t begin, opcode,
        end; /* offsets: of the guard or the opcode; of the opcode; behind the ; */
    struct slice operands[SITE_OPERANDS_MAX];
    int operand_count;
};

/* Makes the change: the new text of the instruction, from `begin` to `end`, and its description.
   False if the instruction is not of the kind. */
typedef bool make_change(const struct site *site, struct strbuf *text, struct strbuf *change);

struct mutant_kind {
    const char *name;
    make_change *make;
};

/* Ended by a row without a name; the first rows are tried first. */
extern const struct mutant_kind mutant_kinds[];
enum { MUTANT_KINDS = 16 };

#endif
