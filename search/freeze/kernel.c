/* A unit's files: kernel.cu, the instantiated source, and kernel_cubin.c, the machine code. */
#include "freeze/parts.h"

#include <string.h>

enum { COLUMNS = 100 };

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

/* Headers of the toolkit come first: before the genes, whose names they might use. Where they stand
   now, their guards make them empty. */
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
    text_add(text, body, strlen(body));
    text_release(&options);
    free(source);
    return 0;
}

/* In words of 8 bytes, least significant first, as every machine with a CUDA driver has them; the
   last one is filled up with zeros. */
int write_cubin(const struct export *export, int unit, struct text *text, struct error *error) {
    const struct frozen_unit *frozen = &export->request->units[unit];
    char stem[STEM_SIZE];
    (void)error;
    text_print(text,
               "/* %s.cubin: the machine code that was timed. Written by evotile: do not edit. */\n"
               "const unsigned long long %s_%s_cubin[] = {",
               unit_stem(unit, stem), export->name, stem);
    size_t column = COLUMNS;
    for (size_t at = 0; at < frozen->cubin_bytes; at += sizeof(uint64_t)) {
        size_t left = frozen->cubin_bytes - at;
        uint64_t word = 0;
        char code[24];
        memcpy(&word, (const char *)frozen->cubin + at, left < sizeof word ? left : sizeof word);
        size_t length = (size_t)snprintf(code, sizeof code, word < 10 ? "%llu," : "0x%llx,",
                                         (unsigned long long)word);
        bool fits = column + 1 + length <= COLUMNS;
        text_print(text, "%s%s", fits ? " " : "\n    ", code);
        column = length + (fits ? column + 1 : 4);
    }
    text_print(text, "\n};\n");
    return 0;
}
