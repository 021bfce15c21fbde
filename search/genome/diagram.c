#include "genome/diagram.h"

#include "base/error.h"

#include <string.h>

struct node {
    uint64_t count;
    uint32_t edges; /* index of the first of its edges, one per value of its level's gene */
    uint32_t level;
};

struct diagram {
    int depth;
    int genes[GENES_MAX], domains[GENES_MAX];
    uint32_t root;
    struct node *nodes;
    size_t node_count, node_room;
    uint32_t *children; /* by edge */
    uint64_t *before;   /* by edge: the genomes below the edges before it */
    size_t edge_count, edge_room;
    uint32_t *table; /* open addressing by the hash of a node's children; 0: a free cell */
    size_t table_size;
};

struct diagram *diagram_new(int depth, const int *genes, const int *domains) {
    struct diagram *diagram = calloc(1, sizeof *diagram);
    if (diagram == NULL)
        BUG("out of memory");
    diagram->depth = depth;
    for (int level = 0; level < depth; level++) {
        diagram->genes[level] = genes[level];
        diagram->domains[level] = domains[level];
    }
    diagram->node_room = 64;
    diagram->nodes = calloc(diagram->node_room, sizeof *diagram->nodes);
    diagram->table_size = 2 * diagram->node_room;
    diagram->table = calloc(diagram->table_size, sizeof *diagram->table);
    if (diagram->nodes == NULL || diagram->table == NULL)
        BUG("out of memory");
    diagram->nodes[DIAGRAM_END] = (struct node){1, 0, (uint32_t)depth};
    diagram->node_count = 2;
    return diagram;
}

void diagram_free(struct diagram *diagram) {
    if (diagram == NULL)
        return;
    free(diagram->nodes);
    free(diagram->children);
    free(diagram->before);
    free(diagram->table);
    free(diagram);
}

static size_t hash_children(const uint32_t *children, int count) {
    uint64_t hash = 0;
    for (int i = 0; i < count; i++)
        hash = (hash ^ children[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
    return (size_t)(hash ^ hash >> 32);
}

static uint32_t *cell_of(const struct diagram *diagram, int level, const uint32_t *children) {
    int count = diagram->domains[level];
    size_t at = hash_children(children, count) & (diagram->table_size - 1);
    for (; diagram->table[at]; at = (at + 1) & (diagram->table_size - 1)) {
        const struct node *node = &diagram->nodes[diagram->table[at]];
        if ((int)node->level == level && memcmp(&diagram->children[node->edges], children,
                                                (size_t)count * sizeof *children) == 0)
            break;
    }
    return &diagram->table[at];
}

static void *grown(void *array, size_t count, size_t size) {
    void *larger = realloc(array, count * size);
    if (larger == NULL)
        BUG("out of memory");
    return larger;
}

static void make_room(struct diagram *diagram, int edges) {
    if (diagram->edge_count + (size_t)edges > diagram->edge_room) {
        diagram->edge_room = 2 * diagram->edge_room + 256;
        diagram->children = grown(diagram->children, diagram->edge_room, sizeof(uint32_t));
        diagram->before = grown(diagram->before, diagram->edge_room, sizeof(uint64_t));
    }
    if (diagram->node_count < diagram->node_room)
        return;
    diagram->node_room *= 2;
    diagram->nodes = grown(diagram->nodes, diagram->node_room, sizeof *diagram->nodes);
    free(diagram->table);
    diagram->table_size = 2 * diagram->node_room;
    diagram->table = calloc(diagram->table_size, sizeof *diagram->table);
    if (diagram->table == NULL)
        BUG("out of memory");
    for (size_t i = DIAGRAM_END + 1; i < diagram->node_count; i++) {
        const struct node *node = &diagram->nodes[i];
        *cell_of(diagram, (int)node->level, &diagram->children[node->edges]) = (uint32_t)i;
    }
}

uint32_t diagram_node(struct diagram *diagram, int level, const uint32_t *children) {
    int count = diagram->domains[level];
    bool empty = true;
    for (int i = 0; i < count; i++)
        empty = empty && children[i] == DIAGRAM_NONE;
    if (empty)
        return DIAGRAM_NONE;
    make_room(diagram, count);
    uint32_t *cell = cell_of(diagram, level, children);
    if (*cell)
        return *cell;
    struct node *node = &diagram->nodes[diagram->node_count];
    *node = (struct node){0, (uint32_t)diagram->edge_count, (uint32_t)level};
    for (int i = 0; i < count; i++) {
        diagram->children[diagram->edge_count] = children[i];
        diagram->before[diagram->edge_count++] = node->count;
        if (__builtin_add_overflow(node->count, diagram->nodes[children[i]].count, &node->count))
            node->count = UINT64_MAX;
    }
    return *cell = (uint32_t)diagram->node_count++;
}

void diagram_set_root(struct diagram *diagram, uint32_t root) {
    diagram->root = root;
}

uint64_t diagram_count(const struct diagram *diagram) {
    return diagram->nodes[diagram->root].count;
}

size_t diagram_node_count(const struct diagram *diagram) {
    return diagram->node_count - 1;
}

bool diagram_rank(const struct diagram *diagram, const struct genome *genome, uint64_t *rank) {
    uint32_t node = diagram->root;
    uint64_t sum = 0;
    for (int level = 0; level < diagram->depth && node != DIAGRAM_NONE; level++) {
        size_t edge = diagram->nodes[node].edges + (size_t)genome->value[diagram->genes[level]];
        sum += diagram->before[edge];
        node = diagram->children[edge];
    }
    if (node != DIAGRAM_NONE)
        *rank = sum;
    return node != DIAGRAM_NONE;
}

void diagram_at(const struct diagram *diagram, uint64_t rank, struct genome *genome) {
    uint32_t node = diagram->root;
    if (rank >= diagram->nodes[node].count)
        BUG("there is no rank %llu", (unsigned long long)rank);
    *genome = (struct genome){0};
    for (int level = 0; level < diagram->depth; level++) {
        /* The last edge whose first rank is at most `rank` leads to it; an edge without genomes
           has the first rank of its successor, so it is skipped. */
        const uint64_t *before = &diagram->before[diagram->nodes[node].edges];
        const uint32_t *children = &diagram->children[diagram->nodes[node].edges];
        int value = diagram->domains[level] - 1;
        while (children[value] == DIAGRAM_NONE || before[value] > rank)
            value--;
        rank -= before[value];
        node = children[value];
        genome->value[diagram->genes[level]] = (uint8_t)value;
    }
}

void diagram_nearest(const struct diagram *diagram, bool upper, struct genome *genome) {
    uint32_t node = diagram->root;
    for (int level = 0; level < diagram->depth; level++) {
        const uint32_t *children = &diagram->children[diagram->nodes[node].edges];
        int count = diagram->domains[level];
        int wanted = genome->value[diagram->genes[level]];
        int value = wanted;
        for (int step = 1; children[value] == DIAGRAM_NONE; step++) {
            int first = upper ? wanted + step : wanted - step;
            int second = upper ? wanted - step : wanted + step;
            if (first >= 0 && first < count && children[first] != DIAGRAM_NONE)
                value = first;
            else if (second >= 0 && second < count && children[second] != DIAGRAM_NONE)
                value = second;
        }
        genome->value[diagram->genes[level]] = (uint8_t)value;
        node = children[value];
    }
}
