#include "genome/genome.h"

#include "base/error.h"
#include "base/nearest.h"
#include "genome/plan.h"

#include <ctype.h>
#include <string.h>

bool genome_equal(const struct genome *a, const struct genome *b) {
    return memcmp(a->value, b->value, sizeof a->value) == 0;
}

struct hash genome_hash(const struct genome *genome) {
    return hash_bytes(genome->value, sizeof genome->value);
}

struct genome genome_default(const struct space *space) {
    struct genome genome = {0};
    for (int i = 0; i < space->gene_count; i++)
        genome.value[i] = (uint8_t)space->genes[i].default_index;
    return genome;
}

void genome_canonicalise(struct genome *genome, const struct space *space) {
    memset(genome->value + space->gene_count, 0, GENES_MAX - (size_t)space->gene_count);
    bool conditions = false;
    for (int i = 0; i < space->gene_count; i++)
        conditions |= space->genes[i].when != NULL;
    if (!conditions)
        return;
    struct bench bench;
    bench_fill(&bench, space, genome);
    bench_derive(&bench, space);
    /* A condition reads earlier genes only, so one pass settles all. */
    for (int i = 0; i < space->gene_count; i++) {
        int value = space->genes[i].default_index;
        if (genome->value[i] == value || bench_active(&bench, space, i))
            continue;
        genome->value[i] = (uint8_t)value;
        bench_set(&bench, space, i, value);
        bench_derive(&bench, space);
    }
}

void genome_print(const struct genome *genome, const struct space *space,
                  char text[GENOME_TEXT_SIZE]) {
    char value[NAME_SIZE];
    int length = 0;
    for (int i = 0; i < space->gene_count; i++)
        length +=
            snprintf(text + length, (size_t)(GENOME_TEXT_SIZE - length), "%s%s=%s", i ? "," : "",
                     space->genes[i].name, space_value_text(space, i, genome->value[i], value));
}

/* Takes what stands before the next of `ends`, or before the end of the text, without the spaces
   around it; moves past the end. False if it is too long for a name. */
static bool take(const char **at, const char *ends, char word[NAME_SIZE]) {
    const char *start = *at, *stop = start + strcspn(start, ends);
    *at = *stop ? stop + 1 : stop;
    while (start < stop && isspace((unsigned char)*start))
        start++;
    while (start < stop && isspace((unsigned char)stop[-1]))
        stop--;
    snprintf(word, NAME_SIZE, "%.*s", (int)(stop - start), start);
    return stop - start < NAME_SIZE;
}

static int parse_value(const struct space *space, int gene, const char *word, struct error *error) {
    char text[NAME_SIZE], domain[1024] = "";
    size_t length = 0;
    for (int i = 0; i < space->genes[gene].count; i++) {
        if (strcmp(space_value_text(space, gene, i, text), word) == 0)
            return i;
        if (length < sizeof domain)
            length += (size_t)snprintf(domain + length, sizeof domain - length, "%s%s",
                                       i ? ", " : "", text);
    }
    return error_input(error, "gene %s has no value '%s'; it has %s", space->genes[gene].name, word,
                       domain);
}

static int parse_gene(const struct space *space, const char *name, struct error *error) {
    int gene = space_find_gene(space, name);
    if (gene >= 0)
        return gene;
    const char *names[GENES_MAX];
    for (int i = 0; i < space->gene_count; i++)
        names[i] = space->genes[i].name;
    return error_input(error, "there is no gene '%s'; the nearest is %s", name,
                       nearest(name, names, space->gene_count));
}

int genome_parse(struct genome *genome, const struct space *space, const char *text,
                 struct error *error) {
    struct genome read = genome_default(space);
    uint32_t given = 0;
    const char *at = text;
    while (*at) {
        char name[NAME_SIZE], word[NAME_SIZE];
        size_t length = strcspn(at, ",");
        if (!memchr(at, '=', length))
            return error_input(error, "'%.*s' is not GENE=VALUE", (int)(length < 60 ? length : 60),
                               at);
        if (!take(&at, "=", name) || !take(&at, ",", word))
            return error_input(error, "the name or value '%s...' is too long for any gene",
                               strlen(name) == NAME_SIZE - 1 ? name : word);
        int gene = parse_gene(space, name, error);
        int value = gene < 0 ? -1 : parse_value(space, gene, word, error);
        if (value < 0)
            return -1;
        if (given >> gene & 1)
            return error_input(error, "gene %s is given twice", name);
        given |= UINT32_C(1) << gene;
        read.value[gene] = (uint8_t)value;
    }
    genome_canonicalise(&read, space);
    *genome = read;
    return 0;
}
