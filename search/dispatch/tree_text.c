/* Writes a tree as C. */
#include "dispatch/tree.h"

static void add_condition(const struct tree *tree, const struct tree_node *node, const char *prefix,
                          struct strbuf *text) {
    for (int i = 0; i < node->feature.factor_count; i++)
        strbuf_print(text, "%s%s%s", i > 0 ? " * " : "", prefix,
                     tree->names[node->feature.factors[i]]);
    strbuf_print(text, " <= %lld", (long long)node->at_most);
}

/* `leaf` counts the leaves in the order of their nodes. */
static void add_node(const struct tree *tree, int index, const char *prefix, int indent, int *leaf,
                     struct strbuf *text) {
    const struct tree_node *node = &tree->nodes[index];
    if (node->feature.factor_count == 0) {
        strbuf_print(text, "%*sreturn %d;\n", indent, "", (*leaf)++);
        return;
    }
    strbuf_print(text, "%*sif (", indent, "");
    add_condition(tree, node, prefix, text);
    strbuf_print(text, ") {\n");
    add_node(tree, node->then, prefix, indent + 4, leaf, text);
    strbuf_print(text, "%*s}\n", indent, "");
    add_node(tree, node->otherwise, prefix, indent, leaf, text);
}

void tree_write_c(const struct tree *tree, const char *prefix, int indent, struct strbuf *text) {
    int leaf = 0;
    add_node(tree, 0, prefix, indent, &leaf, text);
}

void tree_write_orders(const struct tree *tree, int indent, struct strbuf *text) {
    for (int i = 0; i < tree->node_count; i++) {
        const struct tree_node *node = &tree->nodes[i];
        if (node->feature.factor_count > 0)
            continue;
        strbuf_print(text, "%*s{", indent, "");
        for (int k = 0; k < tree->kernel_count; k++)
            strbuf_print(text, "%s%d", k > 0 ? ", " : "", node->order[k]);
        strbuf_print(text, "},\n");
    }
}
