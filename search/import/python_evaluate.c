#include "import/python.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const python_functions[] = {"min",   "max",  "abs",  "len",   "range",
                                        "all",   "any",  "sum",  "list",  "int",
                                        "float", "bool", "ceil", "floor", NULL};

/* ---- values ---- */

static struct python_value of_int(int64_t number) {
    return (struct python_value){.type = PYTHON_INT, .number = number};
}

static struct python_value of_bool(bool truth) {
    return (struct python_value){.type = PYTHON_BOOL, .number = truth};
}

static struct python_value of_float(double real) {
    return (struct python_value){.type = PYTHON_FLOAT, .real = real};
}

static int compare_order(const struct python_value *a, const struct python_value *b, int *order,
                         struct error *error) {
    if (python_is_integer(a) && python_is_integer(b))
        *order = (a->number > b->number) - (a->number < b->number);
    else if (python_is_number(a) && python_is_number(b))
        *order = (python_real(a) > python_real(b)) - (python_real(a) < python_real(b));
    else if (a->type == PYTHON_TEXT && b->type == PYTHON_TEXT)
        *order = strcmp(a->text, b->text);
    else
        return error_input(error, "values of different types have no order");
    return 0;
}

/* ---- arithmetic ---- */

static int add_lists(const struct python_value *a, const struct python_value *b,
                     struct python_heap *heap, struct python_value *value, struct error *error) {
    if (a->count + b->count > PYTHON_LIST_MAX)
        return error_input(error, "a list has more than %d elements", PYTHON_LIST_MAX);
    const int count = a->count + b->count;
    struct python_value *items = python_heap_alloc(heap, (size_t)count * sizeof *items);
    if (a->count > 0)
        memcpy(items, a->items, (size_t)a->count * sizeof *items);
    if (b->count > 0)
        memcpy(items + a->count, b->items, (size_t)b->count * sizeof *items);
    *value = (struct python_value){.type = PYTHON_LIST, .items = items, .count = count};
    return 0;
}

/* Of whole numbers; false if the result does not fit. */
static bool power(int64_t base, int64_t exponent, int64_t *result) {
    *result = 1;
    if (exponent > 64 && base != 0 && base != 1 && base != -1)
        return false;
    if (exponent > 64)
        exponent = 64 + exponent % 2;
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(*result, base, result))
            return false;
    return true;
}

static int compute_whole(enum python_kind kind, int64_t a, int64_t b, struct python_value *value,
                         struct error *error) {
    int64_t result = 0;
    bool overflow = false;
    switch (kind) {
    case NODE_ADD:
        overflow = __builtin_add_overflow(a, b, &result);
        break;
    case NODE_SUBTRACT:
        overflow = __builtin_sub_overflow(a, b, &result);
        break;
    case NODE_MULTIPLY:
        overflow = __builtin_mul_overflow(a, b, &result);
        break;
    case NODE_POWER:
        if (b < 0) {
            *value = of_float(pow((double)a, (double)b));
            return a == 0 ? error_input(error, "division by zero") : 0;
        }
        overflow = !power(a, b, &result);
        break;
    default:
        if (b == 0)
            return error_input(error, "division by zero");
        if (kind == NODE_DIVIDE) {
            *value = of_float((double)a / (double)b);
            return 0;
        }
        overflow = a == INT64_MIN && b == -1;
        if (!overflow && kind == NODE_FLOOR_DIVIDE)
            result = a / b - (a % b != 0 && (a < 0) != (b < 0));
        else if (!overflow)
            result = a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
    }
    *value = of_int(result);
    return overflow ? error_input(error, "a number has more than 64 bits") : 0;
}

static int compute(enum python_kind kind, const struct python_value *a,
                   const struct python_value *b, struct python_heap *heap,
                   struct python_value *value, struct error *error) {
    if (python_is_integer(a) && python_is_integer(b))
        return compute_whole(kind, a->number, b->number, value, error);
    if (kind == NODE_ADD && a->type == PYTHON_LIST && b->type == PYTHON_LIST)
        return add_lists(a, b, heap, value, error);
    if (!python_is_number(a) || !python_is_number(b))
        return error_input(error, "arithmetic needs numbers");
    const double x = python_real(a), y = python_real(b);
    if (y == 0 && (kind == NODE_DIVIDE || kind == NODE_FLOOR_DIVIDE || kind == NODE_REMAINDER))
        return error_input(error, "division by zero");
    const double remainder = y != 0 ? fmod(x, y) : 0;
    *value = of_float(kind == NODE_ADD                               ? x + y
                      : kind == NODE_SUBTRACT                        ? x - y
                      : kind == NODE_MULTIPLY                        ? x * y
                      : kind == NODE_DIVIDE                          ? x / y
                      : kind == NODE_FLOOR_DIVIDE                    ? floor(x / y)
                      : kind == NODE_POWER                           ? pow(x, y)
                      : remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y
                                                                     : remainder);
    return 0;
}

/* ---- functions ---- */

static int make_range(const struct python_value *arguments, int count, struct python_heap *heap,
                      struct python_value *value, struct error *error) {
    int64_t bounds[3] = {0, 0, 1};
    for (int i = 0; i < count; i++)
        if (!python_is_integer(&arguments[i]))
            return error_input(error, "range needs whole numbers");
    if (count < 1 || count > 3)
        return error_input(error, "range has one to three arguments");
    for (int i = 0; i < count; i++)
        bounds[count == 1 ? 1 : i] = arguments[i].number;
    if (bounds[2] == 0)
        return error_input(error, "range has a step of 0");
    const double length = bounds[2] > 0
                              ? ceil(((double)bounds[1] - (double)bounds[0]) / (double)bounds[2])
                              : ceil(((double)bounds[0] - (double)bounds[1]) / -(double)bounds[2]);
    if (length > PYTHON_LIST_MAX)
        return error_input(error, "a range has more than %d elements", PYTHON_LIST_MAX);
    const int items_count = length > 0 ? (int)length : 0;
    struct python_value *items = python_heap_alloc(heap, (size_t)items_count * sizeof *items);
    for (int i = 0; i < items_count; i++)
        items[i] = of_int(bounds[0] + i * bounds[2]);
    *value = (struct python_value){.type = PYTHON_LIST, .items = items, .count = items_count};
    return 0;
}

/* min, max, sum, all and any of some values. */
static int fold(const char *name, const struct python_value *items, int count,
                struct python_heap *heap, struct python_value *value, struct error *error) {
    const bool least = strcmp(name, "min") == 0, sum = strcmp(name, "sum") == 0;
    const bool all = strcmp(name, "all") == 0, any = strcmp(name, "any") == 0;
    if (count == 0 && !sum && !all && !any)
        return error_input(error, "%s of nothing has no value", name);
    *value = sum ? of_int(0) : all || any ? of_bool(all) : items[0];
    for (int i = 0; i < count; i++) {
        struct python_value before = *value;
        int order = 0;
        if (all || any)
            value->number = all ? before.number && python_is_true(&items[i])
                                : before.number || python_is_true(&items[i]);
        else if (sum) {
            if (compute(NODE_ADD, &before, &items[i], heap, value, error) < 0)
                return -1;
        } else if (compare_order(&items[i], value, &order, error) < 0)
            return -1;
        else if (least ? order < 0 : order > 0)
            *value = items[i];
    }
    return 0;
}

static int convert(const char *name, const struct python_value *argument,
                   struct python_value *value, struct error *error) {
    int64_t number;
    if (strcmp(name, "bool") == 0)
        *value = of_bool(python_is_true(argument));
    else if (!python_is_number(argument))
        return error_input(error, "%s needs a number", name);
    else if (strcmp(name, "float") == 0)
        *value = of_float(python_real(argument));
    else if (strcmp(name, "abs") == 0 && argument->type == PYTHON_FLOAT)
        *value = of_float(fabs(argument->real));
    else if (python_is_integer(argument)) {
        if (argument->number == INT64_MIN)
            return error_input(error, "a number has more than 64 bits");
        *value = of_int(strcmp(name, "abs") == 0 && argument->number < 0 ? -argument->number
                                                                         : argument->number);
    } else {
        const double real = argument->real;
        const struct python_value rounded = of_float(strcmp(name, "ceil") == 0    ? ceil(real)
                                                     : strcmp(name, "floor") == 0 ? floor(real)
                                                                                  : trunc(real));
        if (!python_whole(&rounded, &number))
            return error_input(error, "a number has more than 64 bits");
        *value = of_int(number);
    }
    return 0;
}

static int call(const char *name, const struct python_value *arguments, int count,
                struct python_heap *heap, struct python_value *value, struct error *error) {
    const bool has_list = count == 1 && arguments[0].type == PYTHON_LIST;
    if (strcmp(name, "range") == 0)
        return make_range(arguments, count, heap, value, error);
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        return has_list || count > 1
                   ? fold(name, has_list ? arguments[0].items : arguments,
                          has_list ? arguments[0].count : count, heap, value, error)
                   : error_input(error, "%s needs a list or two values", name);
    if (strcmp(name, "sum") == 0 || strcmp(name, "all") == 0 || strcmp(name, "any") == 0)
        return has_list ? fold(name, arguments[0].items, arguments[0].count, heap, value, error)
                        : error_input(error, "%s needs a list", name);
    if (count != 1)
        return error_input(error, "%s has one argument", name);
    if (strcmp(name, "len") == 0) {
        if (!has_list && arguments[0].type != PYTHON_TEXT)
            return error_input(error, "len needs a list");
        *value = of_int(has_list ? arguments[0].count : (int64_t)strlen(arguments[0].text));
        return 0;
    }
    if (strcmp(name, "list") == 0) {
        *value = arguments[0];
        return has_list ? 0 : error_input(error, "list needs a list");
    }
    return convert(name, &arguments[0], value, error);
}

/* ---- nodes ---- */

/* Evaluates operands into an array of the heap. */
static int evaluate_all(const struct python_node *first, const struct python_scope *scope,
                        struct python_heap *heap, struct python_value **values, int *count,
                        struct error *error) {
    *count = 0;
    for (const struct python_node *node = first; node != NULL; node = node->next)
        ++*count;
    *values = python_heap_alloc(heap, (size_t)*count * sizeof **values);
    int i = 0;
    for (const struct python_node *node = first; node != NULL; node = node->next)
        if (python_evaluate_node(node, scope, heap, &(*values)[i++], error) < 0)
            return -1;
    return 0;
}

static int is_in(const struct python_value *item, const struct python_value *container, bool *in,
                 struct error *error) {
    *in = false;
    if (container->type == PYTHON_TEXT && item->type == PYTHON_TEXT) {
        *in = strstr(container->text, item->text) != NULL;
        return 0;
    }
    if (container->type != PYTHON_LIST)
        return error_input(error, "\"in\" needs a list");
    for (int i = 0; i < container->count && !*in; i++)
        *in = python_equal(item, &container->items[i]);
    return 0;
}

static int evaluate_comparison(const struct python_node *node, const struct python_scope *scope,
                               struct python_heap *heap, struct python_value *value,
                               struct error *error) {
    struct python_value left, right;
    bool holds = true;
    if (python_evaluate_node(node->child, scope, heap, &left, error) < 0)
        return -1;
    for (const struct python_node *operand = node->child->next; operand != NULL && holds;
         operand = operand->next, left = right) {
        int order = 0;
        if (python_evaluate_node(operand, scope, heap, &right, error) < 0)
            return -1;
        switch (operand->compare) {
        case COMPARE_EQUAL:
        case COMPARE_NOT_EQUAL:
            holds = python_equal(&left, &right) == (operand->compare == COMPARE_EQUAL);
            break;
        case COMPARE_IN:
        case COMPARE_NOT_IN:
            if (is_in(&left, &right, &holds, error) < 0)
                return -1;
            holds = holds == (operand->compare == COMPARE_IN);
            break;
        default:
            if (compare_order(&left, &right, &order, error) < 0)
                return -1;
            holds = operand->compare == COMPARE_LESS         ? order < 0
                    : operand->compare == COMPARE_LESS_EQUAL ? order <= 0
                    : operand->compare == COMPARE_GREATER    ? order > 0
                                                             : order >= 0;
        }
    }
    *value = of_bool(holds);
    return 0;
}

struct collected {
    struct python_value *items;
    int count;
};

static int run_clauses(const struct python_node *element, const struct python_node *clause,
                       const struct python_scope *scope, struct python_heap *heap,
                       struct collected *collected, struct error *error) {
    struct python_value value;
    if (clause == NULL) {
        if (collected->count == PYTHON_LIST_MAX)
            return error_input(error, "a list has more than %d elements", PYTHON_LIST_MAX);
        if (python_evaluate_node(element, scope, heap, &value, error) < 0)
            return -1;
        collected->items =
            xgrow(collected->items, (size_t)collected->count, sizeof *collected->items);
        collected->items[collected->count++] = value;
        return 0;
    }
    if (python_evaluate_node(clause->child, scope, heap, &value, error) < 0)
        return -1;
    if (clause->kind == NODE_IF)
        return python_is_true(&value)
                   ? run_clauses(element, clause->next, scope, heap, collected, error)
                   : 0;
    if (value.type != PYTHON_LIST)
        return error_input(error, "\"for\" needs a list");
    for (int i = 0; i < value.count; i++) {
        const struct python_scope inner = {
            .name = clause->name, .value = value.items[i], .outer = scope};
        if (run_clauses(element, clause->next, &inner, heap, collected, error) < 0)
            return -1;
    }
    return 0;
}

static int evaluate_comprehension(const struct python_node *node, const struct python_scope *scope,
                                  struct python_heap *heap, struct python_value *value,
                                  struct error *error) {
    struct collected collected = {0};
    int status = run_clauses(node->child, node->child->next, scope, heap, &collected, error);
    struct python_value *items = python_heap_alloc(heap, (size_t)collected.count * sizeof *items);
    if (collected.count > 0)
        memcpy(items, collected.items, (size_t)collected.count * sizeof *items);
    free(collected.items);
    *value = (struct python_value){.type = PYTHON_LIST, .items = items, .count = collected.count};
    return status;
}

static int evaluate_index(const struct python_value *list, const struct python_value *index,
                          struct python_value *value, struct error *error) {
    if (list->type != PYTHON_LIST || !python_is_integer(index))
        return error_input(error, "an index needs a list and a whole number");
    const int64_t at = index->number < 0 ? index->number + list->count : index->number;
    if (at < 0 || at >= list->count)
        return error_input(error, "an index is outside of its list");
    *value = list->items[at];
    return 0;
}

static int find_name(const char *name, const struct python_scope *scope, struct python_value *value,
                     struct error *error) {
    for (; scope != NULL; scope = scope->outer)
        if (strcmp(scope->name, name) == 0) {
            *value = scope->value;
            return 0;
        }
    return error_input(error, "the name \"%s\" is not known: it is no parameter", name);
}

int python_evaluate_node(const struct python_node *node, const struct python_scope *scope,
                         struct python_heap *heap, struct python_value *value,
                         struct error *error) {
    struct python_value *operands = NULL, condition;
    const struct python_node *child = node->child;
    int count = 0;
    if (++heap->steps > PYTHON_STEPS_MAX)
        return error_input(error, "it takes more than %d steps", PYTHON_STEPS_MAX);
    switch (node->kind) {
    case NODE_CONSTANT:
        *value = node->value;
        return 0;
    case NODE_NAME:
        return find_name(node->name, scope, value, error);
    case NODE_COMPARE:
        return evaluate_comparison(node, scope, heap, value, error);
    case NODE_COMPREHENSION:
        return evaluate_comprehension(node, scope, heap, value, error);
    case NODE_AND:
    case NODE_OR:
        for (; child != NULL; child = child->next) {
            if (python_evaluate_node(child, scope, heap, value, error) < 0)
                return -1;
            if (python_is_true(value) == (node->kind == NODE_OR))
                return 0;
        }
        return 0;
    case NODE_CHOOSE:
        if (python_evaluate_node(child->next, scope, heap, &condition, error) < 0)
            return -1;
        return python_evaluate_node(python_is_true(&condition) ? child : child->next->next, scope,
                                    heap, value, error);
    default:
        break;
    }
    if (evaluate_all(child, scope, heap, &operands, &count, error) < 0)
        return -1;
    switch (node->kind) {
    case NODE_LIST:
        *value = (struct python_value){.type = PYTHON_LIST, .items = operands, .count = count};
        return 0;
    case NODE_NOT:
        *value = of_bool(!python_is_true(&operands[0]));
        return 0;
    case NODE_NEGATE:
        condition = of_int(0);
        if (operands[0].type == PYTHON_FLOAT) {
            *value = of_float(-operands[0].real);
            return 0;
        }
        return compute(NODE_SUBTRACT, &condition, &operands[0], heap, value, error);
    case NODE_PLUS:
        condition = of_int(0);
        return compute(NODE_ADD, &condition, &operands[0], heap, value, error);
    case NODE_INDEX:
        return evaluate_index(&operands[0], &operands[1], value, error);
    case NODE_CALL:
        return call(node->name, operands, count, heap, value, error);
    default:
        return compute(node->kind, &operands[0], &operands[1], heap, value, error);
    }
}

int python_evaluate(const struct python *python, const struct python_scope *scope,
                    struct python_heap *heap, struct python_value *value, struct error *error) {
    heap->steps = 0;
    return python_evaluate_node(python->root, scope, heap, value, error);
}

bool python_reads(const struct python_node *node, const char *name) {
    if (node->kind == NODE_NAME && strcmp(node->name, name) == 0)
        return true;
    for (const struct python_node *child = node->child; child != NULL; child = child->next)
        if (python_reads(child, name))
            return true;
    return false;
}
