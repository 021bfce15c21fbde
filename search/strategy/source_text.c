#include "strategy/source_text.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "source GENES DISTANCE NAME", then a row a line: "MICROSECONDS GENOME". */
static const char heading[] = "source ";

char *sources_print(const struct source *sources, int count, const struct space *space) {
    char *text = NULL;
    size_t size;
    FILE *out = xopen_memstream(&text, &size);
    for (int s = 0; s < count; s++) {
        fprintf(out, "%s%" PRIx32 " %.17g %s\n", heading, sources[s].genes, sources[s].distance,
                sources[s].name);
        for (int i = 0; i < sources[s].row_count; i++) {
            char genome[GENOME_TEXT_SIZE];
            genome_print(&sources[s].rows[i].genome, space, genome);
            fprintf(out, "%.17g %s\n", sources[s].rows[i].us, genome);
        }
    }
    fclose(out);
    return text;
}

static struct source *add_source(struct source **sources, int *count) {
    *sources = xgrow(*sources, *count, sizeof **sources);
    struct source *added = &(*sources)[(*count)++];
    *added = (struct source){.name = "predictions of the emulated device"};
    return added;
}

static bool parse_heading(const char *line, struct source *source) {
    char *end;
    unsigned long genes = strtoul(line + strlen(heading), &end, 16);
    if (*end != ' ' || genes > UINT32_MAX)
        return false;
    source->genes = (uint32_t)genes;
    source->distance = strtod(end + 1, &end);
    snprintf(source->name, sizeof source->name, "%s", *end == ' ' ? end + 1 : "");
    return *end == ' ' && source->distance >= 0;
}

static bool parse_row(const char *line, const struct space *space, struct source *source) {
    struct error ignored;
    struct genome genome;
    char *end;
    const double us = strtod(line, &end);
    if (!(us > 0) || *end != ' ' || genome_parse(&genome, space, end + 1, &ignored) < 0)
        return false;
    const uint32_t genes = source->genes;
    source_add_genome(source, space, &genome, us);
    source->genes = genes != 0 ? genes : source->genes;
    return true;
}

static bool parse_line(const char *line, const struct space *space, struct source **sources,
                       int *count) {
    if (strncmp(line, heading, strlen(heading)) == 0)
        return parse_heading(line, add_source(sources, count));
    if (*count == 0)
        add_source(sources, count);
    return parse_row(line, space, &(*sources)[*count - 1]);
}

int sources_parse(const char *text, const struct space *space, struct source **sources,
                  struct error *error) {
    int count = 0;
    *sources = NULL;
    while (*text != '\0') {
        char line[GENOME_TEXT_SIZE + SOURCE_NAME_SIZE];
        const size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        if (length >= sizeof line || !parse_line(line, space, sources, &count)) {
            sources_free(*sources, count);
            *sources = NULL;
            return error_set(error, "the stored sources are damaged: %.60s", line);
        }
        text += length + (text[length] == '\n');
    }
    for (int s = 0; s < count; s++)
        source_seal(&(*sources)[s]);
    return count;
}

void sources_free(struct source *sources, int count) {
    for (int s = 0; s < count; s++)
        source_release(&sources[s]);
    free(sources);
}
