#include "space/genome.h"

#include "base/error.h"
#include "base/spelling.h"
#include "space/constraint_order.h"

#include <ctype.h>
#include <errno.h>
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
    bool conditions = false, derives = false;
    for (int i = 0; i < space->gene_count; i++) {
        const struct expression *when = space->genes[i].when;
        if (when == NULL || genome->value[i] == space->genes[i].default_index)
            continue;
        conditions = true;
        for (int d = 0; d < space->derived_count && !derives; d++)
            derives = slots_has(expression_reads(when), space->order->checks[d].slot);
    }
    if (!conditions)
        return;
    struct constraint_env env = {0};
    constraint_env_fill(&env, space, genome);
    if (derives)
        constraint_env_derive(&env, space);
    for (int k = 0; k < space->gene_count; k++) {
        const int i = space->order->by_condition[k];
        int value = space->genes[i].default_index;
        if (genome->value[i] == value || constraint_env_active(&env, space, i))
            continue;
        genome->value[i] = (uint8_t)value;
        constraint_env_set(&env, space, i, value);
        if (derives)
            constraint_env_derive(&env, space);
    }
    constraint_env_release(&env);
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

static struct gene_word trim(const char *start, const char *end) {
    while (start < end && isspace((unsigned char)*start))
        start++;
    while (start < end && isspace((unsigned char)end[-1]))
        end--;
    return (struct gene_word){start, (int)(end - start)};
}

int genome_read_gene(const char **at, struct gene_words *gene) {
    const char *start = *at;
    if (*start == '\0')
        return 0;
    const char *end = start + strcspn(start, ",");
    const char *equals = memchr(start, '=', (size_t)(end - start));
    *at = end + (*end == ',');
    if (equals == NULL) {
        *gene = (struct gene_words){.name = {start, (int)(end - start)}};
        return -1;
    }
    *gene = (struct gene_words){trim(start, equals), trim(equals + 1, end)};
    return 1;
}

bool gene_word_equal(struct gene_word a, struct gene_word b) {
    return a.length == b.length && memcmp(a.text, b.text, (size_t)a.length) == 0;
}

bool genome_find_value(const char *text, struct gene_word name, struct gene_word *value) {
    struct gene_words gene;
    while (genome_read_gene(&text, &gene) == 1)
        if (gene_word_equal(gene.name, name)) {
            *value = gene.value;
            return true;
        }
    return false;
}

/* Ends a word with NUL. Returns false if it is too long for a name, and then cuts it. */
static bool copy_word(char to[NAME_SIZE], struct gene_word word) {
    bool fits = word.length < NAME_SIZE;
    size_t length = fits ? (size_t)word.length : NAME_SIZE - 1;
    memcpy(to, word.text, length);
    to[length] = '\0';
    return fits;
}

static int unknown_value_error(const struct space *space, int gene, const char *word,
                               struct error *error) {
    char text[NAME_SIZE], domain[1024] = "";
    size_t length = 0;
    for (int i = 0; i < space->genes[gene].count && length < sizeof domain; i++)
        length += (size_t)snprintf(domain + length, sizeof domain - length, "%s%s", i ? ", " : "",
                                   space_value_text(space, gene, i, text));
    return error_input(error, "gene %s has no value '%s'; it has %s", space->genes[gene].name, word,
                       domain);
}

/* Reads a number in its canonical spelling: "2", not "02". */
static bool read_number(const char *word, int64_t *number) {
    const char *digits = word + (*word == '-');
    char *end;
    errno = 0;
    *number = strtoll(word, &end, 10);
    return isdigit((unsigned char)*digits) && !*end && errno == 0 &&
           (*digits != '0' || strcmp(word, "0") == 0);
}

/* Of a word that spells a number. */
static int find_real(const struct gene *gene, const char *word) {
    char *end;
    const double number = strtod(word, &end);
    for (int i = 0; i < gene->count && end != word && *end == '\0'; i++)
        if (gene->reals[i] == number)
            return i;
    return -1;
}

/* Formats no text, because archives of 200,000 genomes are parsed. */
int genome_find_index(const struct space *space, int gene, const char *text) {
    const struct gene *of = &space->genes[gene];
    int64_t number = 0;
    if (of->real)
        return find_real(of, text);
    bool read = !of->ordered || read_number(text, &number);
    for (int i = 0; i < of->count && read; i++)
        if (of->ordered ? of->values[i] == number
                        : strcmp(space->symbols.labels[of->values[i]], text) == 0)
            return i;
    return -1;
}

/* Genes are usually in the order of the space, so that gene is tried first. */
static int parse_gene(const struct space *space, int expected, const char *name,
                      struct error *error) {
    if (expected < space->gene_count && strcmp(space->genes[expected].name, name) == 0)
        return expected;
    int gene = space_find_gene(space, name);
    if (gene >= 0)
        return gene;
    const char *names[GENES_MAX];
    for (int i = 0; i < space->gene_count; i++)
        names[i] = space->genes[i].name;
    return error_input(error, "unknown gene '%s'; the nearest is %s", name,
                       spelling_nearest(name, names, space->gene_count));
}

int genome_parse(struct genome *genome, const struct space *space, const char *text,
                 struct error *error) {
    struct genome read = genome_default(space);
    uint32_t given = 0;
    int gene = -1, found;
    struct gene_words words;
    while ((found = genome_read_gene(&text, &words)) != 0) {
        char name[NAME_SIZE], word[NAME_SIZE];
        if (found < 0)
            return error_input(error, "'%.*s' is not GENE=VALUE",
                               words.name.length < 60 ? words.name.length : 60, words.name.text);
        if (!copy_word(name, words.name) || !copy_word(word, words.value))
            return error_input(error, "the name or value '%s...' is too long for any gene",
                               words.name.length >= NAME_SIZE ? name : word);
        gene = parse_gene(space, gene + 1, name, error);
        if (gene < 0)
            return -1;
        int value = genome_find_index(space, gene, word);
        if (value < 0)
            return unknown_value_error(space, gene, word, error);
        if (given >> gene & 1)
            return error_input(error, "gene %s is given twice", name);
        given |= UINT32_C(1) << gene;
        read.value[gene] = (uint8_t)value;
    }
    genome_canonicalise(&read, space);
    *genome = read;
    return 0;
}
