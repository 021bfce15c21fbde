#include "space/symbol_table.h"

#include "base/error.h"
#include "base/spelling.h"
#include "space/expression.h"

#include <ctype.h>
#include <string.h>

static bool is_identifier(const char *name) {
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

static int find_name(const char (*names)[NAME_SIZE], int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static bool is_function(const char *name) {
    for (int i = 0; expression_functions[i] != NULL; i++)
        if (strcmp(expression_functions[i], name) == 0)
            return true;
    return false;
}

int symbol_table_find(const struct symbol_table *symbols, const char *name) {
    return find_name(symbols->slots, symbols->slot_count, name);
}

int symbol_table_find_label(const struct symbol_table *symbols, const char *name) {
    return find_name(symbols->labels, symbols->label_count, name);
}

static int check_new(const char *name, int count, int most, struct error *error) {
    if (strlen(name) >= NAME_SIZE)
        return error_input(error, "the name '%.60s...' has more than %d characters", name,
                           NAME_SIZE - 1);
    if (is_function(name))
        return error_input(error, "'%s' is the name of a function", name);
    if (count == most)
        return error_input(error, "'%s' is one name too many: at most %d are allowed", name, most);
    return 0;
}

int symbol_table_add(struct symbol_table *symbols, const char *name, struct error *error) {
    if (!is_identifier(name))
        return error_input(error, "'%.60s' is not a name: use letters, digits and _", name);
    if (check_new(name, symbols->slot_count, SLOTS_MAX, error) < 0)
        return -1;
    if (symbol_table_find(symbols, name) >= 0)
        return error_input(error, "'%s' is declared twice", name);
    if (symbol_table_find_label(symbols, name) >= 0)
        return error_input(error, "'%s' is already a value of a gene and cannot be a name", name);
    strcpy(symbols->slots[symbols->slot_count], name);
    return symbols->slot_count++;
}

int symbol_table_add_label(struct symbol_table *symbols, const char *name, struct error *error) {
    int known = symbol_table_find_label(symbols, name);
    if (known >= 0)
        return known;
    if (*name == '\0')
        return error_input(error, "a value of a gene is empty");
    if (check_new(name, symbols->label_count, LABELS_MAX, error) < 0)
        return -1;
    if (symbol_table_find(symbols, name) >= 0)
        return error_input(error, "'%s' is already declared and cannot be a value", name);
    strcpy(symbols->labels[symbols->label_count], name);
    return symbols->label_count++;
}

const char *symbol_table_nearest(const struct symbol_table *symbols, const char *name) {
    const char *names[SLOTS_MAX + LABELS_MAX + 8];
    int count = 0;
    for (int i = 0; i < symbols->slot_count; i++)
        names[count++] = symbols->slots[i];
    for (int i = 0; i < symbols->label_count; i++)
        names[count++] = symbols->labels[i];
    for (int i = 0; expression_functions[i] != NULL; i++)
        names[count++] = expression_functions[i];
    return spelling_nearest(name, names, count);
}
