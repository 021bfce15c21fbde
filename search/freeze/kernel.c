/* kernel.cu: the instantiated source, such that units link together. */
#include "freeze/parts.h"

#include <string.h>

static void add_case_latency(const struct checked_shape *checked, bool predicted,
                             struct text *text) {
    const struct latency *warm = &checked->record->warm;
    text_print(text, "//   %-32s p50 %.2f us, p90 %.2f us%s\n", checked->name, warm->p50_us,
               warm->p90_us, predicted ? " (predicted, not measured)" : "");
}

static void add_header(const struct export *export, int unit, const char *architecture,
                       struct text *text) {
    const struct freeze_request *request = export->request;
    const struct frozen_unit *frozen = &request->units[unit];
    struct text specialised = {0};
    char genome[GENOME_TEXT_SIZE];
    char hash[HASH_TEXT_SIZE];
    char stem[STEM_SIZE];
    genome_print(frozen->genome, export->template->space, genome);
    unit_specialised(export, unit, &specialised);
    text_print(text, "// %s.cu: %s, frozen by evotile. Written by a program: do not edit.\n//\n",
               unit_stem(unit, stem), export->template->name);
    text_wrap(text, "// ", export->template->about);
    text_print(text, "//\n// genome:\n");
    text_wrap(text, "//   ", genome);
    if (specialised.used > 0)
        text_print(text, "// for %s only\n", specialised.bytes);
    text_print(text, "// key: %s (its parts are in manifest.json)\n",
               hash_print(key_hash(frozen->key), hash));
    text_print(text, "// device: %s, driver %s, compiled for %s by NVRTC %s\n",
               frozen->key->parts[KEY_DEVICE], frozen->key->parts[KEY_DRIVER], architecture,
               frozen->key->parts[KEY_NVRTC]);
    text_print(text, "// latency of a call:\n");
    for (int c = 0; c < export->template->case_count; c++)
        if (request->cases[c].unit == unit)
            add_case_latency(&export->checked[c], request->predicted, text);
    text_print(text, "// replay: %s\n\n", request->replay);
    text_release(&specialised);
}

/* Headers of the toolkit come first: before the genes, whose names they might use, and outside the
   namespace of a further unit. Where they stand now, their guards make them empty. */
static void add_includes(const char *source, struct text *text) {
    const char *line = source;
    size_t before = text->used;
    while (*line != '\0') {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, "#include", 8) == 0)
            text_print(text, "%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    if (text->used > before)
        text_add(text, "\n", 1);
}

/* Kernels have C names, which the linker sees: one name a unit. */
static void add_renames(const struct export *export, int unit, struct text *text) {
    const struct launch_list *launches = &export->template->launches;
    char symbol[SYMBOL_SIZE];
    text_print(text,
               "// Several kernels of %s link together, so each has a name of its own; evotile\n"
               "// replays them one by one, by their plain names.\n"
               "#ifndef __CUDACC_RTC__\n",
               export->template->name);
    for (int i = 0; i < launches->count; i++) {
        const char *kernel = launches->launches[i].kernel;
        int first = 0;
        while (strcmp(launches->launches[first].kernel, kernel) != 0)
            first++;
        if (first == i)
            text_print(text, "#define %s %s\n", kernel, unit_symbol(unit, kernel, symbol));
    }
    text_print(text, "#endif\n\n");
}

/* Where the line begins that defines the genome's mark: the last before the template's own text. */
static size_t mark_line(const char *source) {
    for (size_t at = 0; source[at] != '\0'; at++) {
        size_t length = strcspn(source + at, "\n");
        if (memmem(source + at, length, TEMPLATE_MARK_SYMBOL, sizeof TEMPLATE_MARK_SYMBOL - 1))
            return at;
        at += length;
        if (source[at] == '\0')
            break;
    }
    BUG("a source without %s", TEMPLATE_MARK_SYMBOL);
}

int write_kernel(const struct export *export, int unit, struct text *text, struct error *error) {
    char architecture[NAME_SIZE] = "";
    struct text options = {0};
    const struct frozen_unit *frozen = &export->request->units[unit];
    char *source = template_source(export->template, frozen->genome,
                                   template_variant(export->template, frozen->case_index), error);
    if (source == NULL || unit_options(export, unit, architecture, &options, error) < 0) {
        text_release(&options);
        free(source);
        return -1;
    }
    size_t mark = mark_line(source);
    const char *body = source + mark + strcspn(source + mark, "\n");
    body += strspn(body, "\n");
    add_header(export, unit, architecture, text);
    add_includes(body, text);
    text_add(text, source, mark);
    /* Within braces it is the file's own for nvcc too, which otherwise takes it for a declaration
       of a variable that lives elsewhere. */
    text_print(text, "extern \"C\" {\n__device__ unsigned long long %s = 0x%016llxull;\n}\n\n",
               TEMPLATE_MARK_SYMBOL, (unsigned long long)template_genome_mark(frozen->genome));
    if (unit > 0) {
        add_renames(export, unit, text);
        text_print(text, "namespace unit_%d {\n\n%s\n} // namespace unit_%d\n", unit + 1, body,
                   unit + 1);
    } else {
        text_add(text, body, strlen(body));
    }
    text_release(&options);
    free(source);
    return 0;
}
