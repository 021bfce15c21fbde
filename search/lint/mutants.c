#include "lint/mutants.h"

#include "base/memory.h"
#include "base/random.h"
#include "lint/mutant_kinds.h"

#include <stdlib.h>
#include <string.h>

/* ---- finding them ---- */

/* The offsets of an instruction and of its operands. Returns false if it is too long. */
static bool read_site(struct site *site) {
    const char *text = site->ast->text;
    const struct slice opcode = site->statement->opcode;
    site->opcode = site->begin = (size_t)(opcode.text - text);
    if (site->statement->guard >= 0)
        while (site->begin > 0 && text[site->begin] != '@')
            site->begin--;
    const char *at = opcode.text + opcode.length;
    const char *end = strchr(at, ';');
    if (end == NULL)
        return false;
    site->end = (size_t)(end + 1 - text);
    site->operand_count = 0;
    int depth = 0;
    at += strspn(at, " \t\r\n");
    const char *start = at;
    for (; at <= end; at++) {
        depth +=
            (*at == '{' || *at == '[' || *at == '(') - (*at == '}' || *at == ']' || *at == ')');
        if (at < end && (*at != ',' || depth > 0))
            continue;
        const char *last = at;
        while (last > start && strchr(" \t\r\n", last[-1]) != NULL)
            last--;
        if (last > start && site->operand_count == SITE_OPERANDS_MAX)
            return false;
        if (last > start)
            site->operands[site->operand_count++] = (struct slice){start, (int)(last - start)};
        start = at + 1;
        start += strspn(start, " \t\r\n");
    }
    return site->operand_count == site->statement->operand_count;
}

/* The line of the CUDA source, of the outermost call if functions are inlined. */
static void find_line(const struct site *site, struct mutant *mutant) {
    const struct ast *ast = site->ast;
    int index = site->statement->location;
    if (index < 0 || index >= ast->location_count)
        return;
    const struct location *location = &ast->locations[index];
    if (location->file < 0 || location->file >= ast->file_count)
        return;
    const struct slice file = ast->files[location->file];
    const char *name = file.text + file.length;
    int length = 0;
    while (name > file.text && name[-1] != '/')
        name--, length++;
    while (length > 0 && name[length - 1] == '"')
        length--;
    if (length > 0 && *name == '"')
        name++, length--;
    snprintf(mutant->file, sizeof mutant->file, "%.*s", length, name);
    mutant->line = location->line;
}

static void add_mutant(struct mutant_list *list, const struct site *site,
                       const struct mutant_kind *kind) {
    struct strbuf text = {0}, change = {0};
    if (kind->make(site, &text, &change)) {
        list->items = xgrow(list->items, (size_t)list->count, sizeof *list->items);
        struct mutant *mutant = &list->items[list->count++];
        *mutant = (struct mutant){.kind = kind->name,
                                  .ptx_line = site->statement->line,
                                  .begin = site->begin,
                                  .end = site->end,
                                  .replacement = text.bytes};
        text.bytes = NULL;
        /* On one line, and without the tabs of PTX. */
        for (char *at = change.bytes; *at != '\0'; at++)
            if (strchr("\t\r\n", *at) != NULL)
                *at = ' ';
        snprintf(mutant->change, sizeof mutant->change, "%s", change.bytes);
        find_line(site, mutant);
    }
    strbuf_release(&text);
    strbuf_release(&change);
}

static void find_of_kind(struct mutant_list *list, const struct ast *ast,
                         const struct mutant_kind *kind) {
    for (int f = 0; f < ast->function_count; f++) {
        const struct function *function = &ast->functions[f];
        for (int s = 0; function->is_defined && s < function->statement_count; s++) {
            struct site site = {.ast = ast,
                                .function = function,
                                .index = s,
                                .statement = &function->statements[s]};
            if (site.statement->kind == STATEMENT_INSTRUCTION && site.statement->error == NULL &&
                read_site(&site))
                add_mutant(list, &site, kind);
        }
    }
}

static void shuffle(struct mutant_list *list, struct random *random) {
    for (int i = list->count - 1; i > 0; i--) {
        const int other = (int)random_below(random, (uint64_t)i + 1);
        const struct mutant swapped = list->items[i];
        list->items[i] = list->items[other];
        list->items[other] = swapped;
    }
}

int mutants_find(struct mutant_list *list, const char *ptx, uint64_t seed, struct error *error) {
    struct mutant_list of_kind[MUTANT_KINDS] = {0};
    struct random random;
    struct ast *ast = ast_parse(ptx, error);
    *list = (struct mutant_list){0};
    if (ast == NULL)
        return -1;
    random_seed(&random, seed, 0);
    for (int k = 0; k < MUTANT_KINDS; k++) {
        find_of_kind(&of_kind[k], ast, &mutant_kinds[k]);
        shuffle(&of_kind[k], &random);
    }
    /* One of each kind in turn. */
    for (int round = 0, left = 1; left > 0; round++) {
        left = 0;
        for (int k = 0; k < MUTANT_KINDS; k++) {
            if (round >= of_kind[k].count)
                continue;
            list->items = xgrow(list->items, (size_t)list->count, sizeof *list->items);
            list->items[list->count++] = of_kind[k].items[round];
            left++;
        }
    }
    for (int k = 0; k < MUTANT_KINDS; k++)
        free(of_kind[k].items);
    ast_free(ast);
    return 0;
}

void mutants_release(struct mutant_list *list) {
    for (int i = 0; i < list->count; i++)
        free(list->items[i].replacement);
    free(list->items);
    *list = (struct mutant_list){0};
}

char *mutant_apply(const struct mutant *mutant, const char *ptx) {
    struct strbuf text = {0};
    strbuf_add(&text, ptx, mutant->begin);
    strbuf_print(&text, "%s", mutant->replacement);
    strbuf_print(&text, "%s", ptx + mutant->end);
    return text.bytes;
}
