/* Fills the embedded files (*.in, with mustache holes) that become files of an export. */
#include "base/memory.h"
#include "base/mustache.h"
#include "export/internal.h"

#include <string.h>

/* The linker embeds FILE.in between two symbols (Makefile). */
#define DECLARE(name, folder, file)                                                                \
    extern const char file[] __asm__("_binary_search_" #folder "_" #file "_in_start");             \
    extern const char file##_end[] __asm__("_binary_search_" #folder "_" #file "_in_end");
EMBEDDED_FILES(DECLARE)

#define ROW(name, folder, file) [EMBEDDED_##name] = {file, file##_end},
static const struct { const char *text, *end; } embedded[] = {EMBEDDED_FILES(ROW)};

cJSON *embedded_values(const struct export *export) {
    cJSON *values = cJSON_CreateObject();
    struct strbuf upper = {0}, sources = {0};
    add_upper_name(export, &upper);
    cJSON_AddStringToObject(values, "name", export->name);
    cJSON_AddStringToObject(values, "prefix", upper.bytes);
    cJSON_AddStringToObject(values, "template", export->template->name);
    for (int s = 0; s < export->solution_count; s++) {
        char source[SOURCE_FILE_SIZE];
        strbuf_print(&sources, "%s%s", s > 0 ? ", " : "",
                     source_file(export, export->solutions[s], source));
    }
    embedded_add_text(values, "sources", &sources);
    strbuf_release(&upper);
    return values;
}

cJSON *embedded_add_units(cJSON *values, const char *key, int first, int count) {
    cJSON *units = cJSON_AddArrayToObject(values, key);
    for (int variant = first; variant < first + count; variant++) {
        cJSON *unit = cJSON_CreateObject();
        cJSON_AddItemToArray(units, unit);
        cJSON_AddNumberToObject(unit, "number", variant + 1);
    }
    return units;
}

void embedded_add_text(cJSON *values, const char *key, struct strbuf *block) {
    strbuf_add(block, "", 0);
    if (block->used > 0 && block->bytes[block->used - 1] == '\n')
        block->bytes[--block->used] = '\0';
    cJSON_AddStringToObject(values, key, block->bytes);
    strbuf_release(block);
}

void embedded_fill(enum embedded_file file, cJSON *values, struct strbuf *text) {
    size_t bytes = (uintptr_t)embedded[file].end - (uintptr_t)embedded[file].text;
    char *source = xstrndup(embedded[file].text, bytes);
    char *filled = NULL;
    size_t size = 0;
    FILE *out = xopen_memstream(&filled, &size);
    mustache_render(source, values, mustache_escape_html,
                    out); /* all holes are {{{raw}}}: nothing is escaped */
    fclose(out);
    strbuf_add(text, filled, size);
    free(filled);
    free(source);
    cJSON_Delete(values);
}

void embedded_copy(enum embedded_file file, struct strbuf *text) {
    strbuf_add(text, embedded[file].text,
               (uintptr_t)embedded[file].end - (uintptr_t)embedded[file].text);
}
