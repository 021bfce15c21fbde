#include "space/mdd.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

struct mdd_node {
    uint64_t count;
    uint32_t edges; /* index of the first of its edges, one per value of its level's gene */
    uint32_t level;
};

struct mdd {
    int depth;
    int genes[GENES_MAX], domains[GENES_MAX];
    uint32_t root;
    struct mdd_node *nodes;
    size_t node_count, node_capacity;
    uint32_t *children;     /* by edge */
    uint64_t *ranks_before; /* by edge: the genomes below the edges before it */
    size_t edge_count, edge_capacity;
    uint32_t *table; /* open addressing by the hash of a node's children; 0: a free cell */
    size_t table_size;
};

struct mdd *mdd_new(int depth, const int *genes, const int *domains) {
    struct mdd *mdd = xcalloc(1, sizeof *mdd);
    mdd->depth = depth;
    for (int level = 0; level < depth; level++) {
        mdd->genes[level] = genes[level];
        mdd->domains[level] = domains[level];
    }
    mdd->node_capacity = 64;
    mdd->nodes = xcalloc(mdd->node_capacity, sizeof *mdd->nodes);
    mdd->table_size = 2 * mdd->node_capacity;
    mdd->table = xcalloc(mdd->table_size, sizeof *mdd->table);
    mdd->nodes[MDD_END] = (struct mdd_node){1, 0, (uint32_t)depth};
    mdd->node_count = 2;
    return mdd;
}

void mdd_free(struct mdd *mdd) {
    if (mdd == NULL)
        return;
    free(mdd->nodes);
    free(mdd->children);
    free(mdd->ranks_before);
    free(mdd->table);
    free(mdd);
}

static size_t hash_children(const uint32_t *children, int count) {
    uint64_t hash = 0;
    for (int i = 0; i < count; i++)
        hash = (hash ^ children[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
    return (size_t)(hash ^ hash >> 32);
}

static uint32_t *find_cell(const struct mdd *mdd, int level, const uint32_t *children) {
    int count = mdd->domains[level];
    size_t at = hash_children(children, count) & (mdd->table_size - 1);
    for (; mdd->table[at]; at = (at + 1) & (mdd->table_size - 1)) {
        const struct mdd_node *node = &mdd->nodes[mdd->table[at]];
        if ((int)node->level == level &&
            memcmp(&mdd->children[node->edges], children, (size_t)count * sizeof *children) == 0)
            break;
    }
    return &mdd->table[at];
}

static void reserve_node(struct mdd *mdd, int edges) {
    if (mdd->edge_count + (size_t)edges > mdd->edge_capacity) {
        mdd->edge_capacity = 2 * mdd->edge_capacity + 256;
        mdd->children = xrealloc(mdd->children, mdd->edge_capacity * sizeof *mdd->children);
        mdd->ranks_before =
            xrealloc(mdd->ranks_before, mdd->edge_capacity * sizeof *mdd->ranks_before);
    }
    if (mdd->node_count < mdd->node_capacity)
        return;
    mdd->node_capacity *= 2;
    mdd->nodes = xrealloc(mdd->nodes, mdd->node_capacity * sizeof *mdd->nodes);
    free(mdd->table);
    mdd->table_size = 2 * mdd->node_capacity;
    mdd->table = xcalloc(mdd->table_size, sizeof *mdd->table);
    for (size_t i = MDD_END + 1; i < mdd->node_count; i++) {
        const struct mdd_node *node = &mdd->nodes[i];
        *find_cell(mdd, (int)node->level, &mdd->children[node->edges]) = (uint32_t)i;
    }
}

uint32_t mdd_add_node(struct mdd *mdd, int level, const uint32_t *children) {
    int count = mdd->domains[level];
    bool empty = true;
    for (int i = 0; i < count; i++)
        empty = empty && children[i] == MDD_NONE;
    if (empty)
        return MDD_NONE;
    reserve_node(mdd, count);
    uint32_t *cell = find_cell(mdd, level, children);
    if (*cell)
        return *cell;
    struct mdd_node *node = &mdd->nodes[mdd->node_count];
    *node = (struct mdd_node){0, (uint32_t)mdd->edge_count, (uint32_t)level};
    for (int i = 0; i < count; i++) {
        mdd->children[mdd->edge_count] = children[i];
        mdd->ranks_before[mdd->edge_count++] = node->count;
        if (__builtin_add_overflow(node->count, mdd->nodes[children[i]].count, &node->count))
            node->count = UINT64_MAX;
    }
    return *cell = (uint32_t)mdd->node_count++;
}

void mdd_set_root(struct mdd *mdd, uint32_t root) {
    mdd->root = root;
}

uint64_t mdd_count(const struct mdd *mdd) {
    return mdd->nodes[mdd->root].count;
}

bool mdd_rank(const struct mdd *mdd, const struct genome *genome, uint64_t *rank) {
    uint32_t node = mdd->root;
    uint64_t sum = 0;
    for (int level = 0; level < mdd->depth && node != MDD_NONE; level++) {
        size_t edge = mdd->nodes[node].edges + (size_t)genome->value[mdd->genes[level]];
        sum += mdd->ranks_before[edge];
        node = mdd->children[edge];
    }
    if (node != MDD_NONE)
        *rank = sum;
    return node != MDD_NONE;
}

void mdd_at(const struct mdd *mdd, uint64_t rank, struct genome *genome) {
    uint32_t node = mdd->root;
    if (rank >= mdd->nodes[node].count)
        BUG("there is no rank %llu", (unsigned long long)rank);
    *genome = (struct genome){0};
    for (int level = 0; level < mdd->depth; level++) {
        /* The last edge whose first rank is at most `rank` leads to it; an edge without genomes
           has the first rank of its successor, so it is skipped. */
        const uint64_t *ranks_before = &mdd->ranks_before[mdd->nodes[node].edges];
        const uint32_t *children = &mdd->children[mdd->nodes[node].edges];
        int value = mdd->domains[level] - 1;
        while (children[value] == MDD_NONE || ranks_before[value] > rank)
            value--;
        rank -= ranks_before[value];
        node = children[value];
        genome->value[mdd->genes[level]] = (uint8_t)value;
    }
}

void mdd_nearest(const struct mdd *mdd, bool upper, struct genome *genome) {
    uint32_t node = mdd->root;
    for (int level = 0; level < mdd->depth; level++) {
        const uint32_t *children = &mdd->children[mdd->nodes[node].edges];
        int count = mdd->domains[level];
        int wanted = genome->value[mdd->genes[level]];
        int value = wanted;
        for (int step = 1; children[value] == MDD_NONE; step++) {
            int first = upper ? wanted + step : wanted - step;
            int second = upper ? wanted - step : wanted + step;
            if (first >= 0 && first < count && children[first] != MDD_NONE)
                value = first;
            else if (second >= 0 && second < count && children[second] != MDD_NONE)
                value = second;
        }
        genome->value[mdd->genes[level]] = (uint8_t)value;
        node = children[value];
    }
}
