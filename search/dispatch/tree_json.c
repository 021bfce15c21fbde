/* Writes a tree as JSON, and reads it. */
#include "dispatch/tree.h"

#include "base/memory.h"

#include <ctype.h>
#include <string.h>

/* ---- writing ---- */

/* The path to the node from the root is short enough to recurse. */
static cJSON *node_json(const struct tree *tree, int index) {
    const struct tree_node *node = &tree->nodes[index];
    cJSON *object = cJSON_CreateObject();
    if (node->feature.factor_count == 0) {
        cJSON *order = cJSON_AddArrayToObject(object, "order");
        for (int k = 0; k < tree->kernel_count; k++)
            cJSON_AddItemToArray(order, cJSON_CreateNumber(node->order[k]));
        cJSON_AddNumberToObject(object, "cases", node->case_count);
        return object;
    }
    struct strbuf feature = {0};
    for (int i = 0; i < node->feature.factor_count; i++)
        strbuf_print(&feature, "%s%s", i > 0 ? " * " : "", tree->names[node->feature.factors[i]]);
    cJSON_AddStringToObject(object, "if", feature.bytes);
    strbuf_release(&feature);
    /* Beyond 2^53 cJSON's doubles lose digits: json_integer reads a string. */
    if (node->at_most <= INT64_C(1) << 53 && node->at_most >= -(INT64_C(1) << 53)) {
        cJSON_AddNumberToObject(object, "at_most", (double)node->at_most);
    } else {
        char digits[24];
        snprintf(digits, sizeof digits, "%lld", (long long)node->at_most);
        cJSON_AddStringToObject(object, "at_most", digits);
    }
    cJSON_AddItemToObject(object, "then", node_json(tree, node->then));
    cJSON_AddItemToObject(object, "else", node_json(tree, node->otherwise));
    return object;
}

cJSON *tree_json(const struct tree *tree) {
    cJSON *object = cJSON_CreateObject();
    cJSON *inputs = cJSON_AddArrayToObject(object, "inputs");
    for (int i = 0; i < tree->input_count; i++)
        cJSON_AddItemToArray(inputs, cJSON_CreateString(tree->names[i]));
    cJSON_AddNumberToObject(object, "kernels", tree->kernel_count);
    cJSON_AddItemToObject(object, "tree", node_json(tree, 0));
    return object;
}

/* ---- reading ---- */

static bool is_identifier(const char *name) {
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) || name[length] == '_')
        length++;
    return length > 0 && length < TREE_NAME_SIZE && name[length] == '\0' &&
           !isdigit((unsigned char)name[0]);
}

static int find_input(const struct tree *tree, const char *name, size_t length) {
    for (int i = 0; i < tree->input_count; i++)
        if (strlen(tree->names[i]) == length && strncmp(tree->names[i], name, length) == 0)
            return i;
    return -1;
}

static int read_inputs(struct tree *tree, const struct json *object, struct error *error) {
    struct json list;
    if (json_require(object, "inputs", &list, error) < 0 || json_is_array(&list, error) < 0)
        return -1;
    if (json_count(&list) > TREE_INPUTS_MAX)
        return json_error(&list, error, "must have at most %d names", TREE_INPUTS_MAX);
    for (int i = 0; i < json_count(&list); i++) {
        struct json item = json_at(&list, i);
        const char *name;
        if (json_string(&item, &name, error) < 0)
            return -1;
        if (!is_identifier(name) || find_input(tree, name, strlen(name)) >= 0)
            return json_error(&item, error, "must be an identifier that no other input has");
        snprintf(tree->names[tree->input_count++], TREE_NAME_SIZE, "%s", name);
    }
    return 0;
}

/* "S * B" */
static int read_feature(const struct tree *tree, const struct json *value,
                        struct tree_feature *feature, struct error *error) {
    const char *text;
    if (json_string(value, &text, error) < 0)
        return -1;
    for (;;) {
        const size_t length = strcspn(text, " ");
        const int input = find_input(tree, text, length);
        if (input < 0)
            return json_error(value, error, "%.*s is none of the inputs",
                              (int)(length < TREE_NAME_SIZE ? length : TREE_NAME_SIZE), text);
        if (feature->factor_count == TREE_FACTORS_MAX)
            return json_error(value, error, "must be a product of at most %d inputs",
                              TREE_FACTORS_MAX);
        feature->factors[feature->factor_count++] = input;
        text += length;
        if (*text == '\0')
            return 0;
        if (strncmp(text, " * ", 3) != 0)
            return json_error(value, error, "must be inputs with \" * \" between them");
        text += 3;
    }
}

/* Every kernel once. */
static int read_order(const struct tree *tree, const struct json *list, struct tree_node *node,
                      struct error *error) {
    uint64_t seen = 0;
    if (json_is_array(list, error) < 0)
        return -1;
    if (json_count(list) != tree->kernel_count)
        return json_error(list, error, "must name each of the %d kernels once", tree->kernel_count);
    for (int i = 0; i < tree->kernel_count; i++) {
        struct json item = json_at(list, i);
        int64_t kernel;
        if (json_integer(&item, &kernel, error) < 0)
            return -1;
        if (kernel < 0 || kernel >= tree->kernel_count || (seen >> kernel & 1) != 0)
            return json_error(&item, error, "must be from 0 to %d and occur once",
                              tree->kernel_count - 1);
        seen |= UINT64_C(1) << kernel;
        node->order[i] = (unsigned char)kernel;
    }
    return 0;
}

static int read_leaf(const struct tree *tree, const struct json *object, struct tree_node *node,
                     struct error *error) {
    static const char *const keys[] = {"order", "cases", NULL};
    struct json order, cases;
    int64_t count;
    if (json_check_keys(object, keys, error) < 0 ||
        json_require(object, "order", &order, error) < 0 ||
        read_order(tree, &order, node, error) < 0 ||
        json_require(object, "cases", &cases, error) < 0 || json_integer(&cases, &count, error) < 0)
        return -1;
    if (count < 0 || count > INT32_MAX)
        return json_error(&cases, error, "must be a number of cases");
    node->case_count = (int)count;
    return 0;
}

/* Reads the node and those below it; returns its index, or -1. */
static int read_node(struct tree *tree, const struct json *object, int depth, struct error *error) {
    static const char *const keys[] = {"if", "at_most", "then", "else", NULL};
    struct tree_node node = {0};
    struct json feature, at_most, branch;
    const int index = tree->node_count;
    if (json_is_object(object, error) < 0)
        return -1;
    const bool leaf = !json_find(object, "if", &feature);
    if (leaf ? read_leaf(tree, object, &node, error) < 0
             : json_check_keys(object, keys, error) < 0 ||
                   read_feature(tree, &feature, &node.feature, error) < 0 ||
                   json_require(object, "at_most", &at_most, error) < 0 ||
                   json_integer(&at_most, &node.at_most, error) < 0)
        return -1;
    tree->nodes = xgrow(tree->nodes, (size_t)tree->node_count, sizeof *tree->nodes);
    tree->nodes[tree->node_count++] = node;
    if (leaf)
        return index;
    if (depth == TREE_DEPTH_MAX)
        return json_error(object, error, "a tree must not be deeper than %d", TREE_DEPTH_MAX);
    const int then = json_require(object, "then", &branch, error) < 0
                         ? -1
                         : read_node(tree, &branch, depth + 1, error);
    if (then < 0 || json_require(object, "else", &branch, error) < 0)
        return -1;
    const int otherwise = read_node(tree, &branch, depth + 1, error);
    if (otherwise < 0)
        return -1;
    tree->nodes[index].then = then;
    tree->nodes[index].otherwise = otherwise;
    return index;
}

int tree_read(struct tree *tree, const struct json *object, struct error *error) {
    static const char *const keys[] = {"inputs", "kernels", "tree", NULL};
    struct json value;
    int64_t count;
    *tree = (struct tree){0};
    if (json_is_object(object, error) < 0 || json_check_keys(object, keys, error) < 0 ||
        read_inputs(tree, object, error) < 0 ||
        json_require(object, "kernels", &value, error) < 0 ||
        json_integer(&value, &count, error) < 0)
        return -1;
    if (count < 1 || count > DISPATCH_KERNELS_MAX)
        return json_error(&value, error, "must lie between 1 and %d", DISPATCH_KERNELS_MAX);
    tree->kernel_count = (int)count;
    if (json_require(object, "tree", &value, error) == 0 && read_node(tree, &value, 0, error) >= 0)
        return 0;
    tree_release(tree);
    return -1;
}
