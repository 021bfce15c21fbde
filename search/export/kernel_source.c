/* A variant's files: kernel.cu, the instantiated source, and kernel_cubin.c, the machine code. */
#include "export/internal.h"

#include <string.h>

enum { COLUMNS = 100 };

static void add_case_latency(const struct checked_shape *checked, bool predicted,
                             struct strbuf *text) {
    const struct latency *warm = &checked->record->warm;
    strbuf_print(text, "//   %-32s p50 %.2f us, p90 %.2f us%s\n", checked->name, warm->p50_us,
                 warm->p90_us, predicted ? " (predicted, not measured)" : "");
}

static void add_header(const struct export *export, int variant, const char *architecture,
                       struct strbuf *text) {
    const struct export_request *request = export->request;
    const struct export_variant *exported = &request->variants[variant];
    struct strbuf specialised = {0};
    char genome[GENOME_TEXT_SIZE];
    char hash[HASH_TEXT_SIZE];
    char stem[STEM_SIZE];
    genome_print(exported->genome, export->template->space, genome);
    variant_specialised(export, variant, &specialised);
    strbuf_print(text, "// %s.cu: %s, exported by evotile. Generated: do not edit.\n//\n",
                 variant_stem(variant, stem), export->template->name);
    strbuf_add_wrapped(text, "// ", export->template->about);
    strbuf_print(text, "//\n// genome:\n");
    strbuf_add_wrapped(text, "//   ", genome);
    if (specialised.used > 0)
        strbuf_print(text, "// for %s only\n", specialised.bytes);
    strbuf_print(text, "// key: %s (its parts are in manifest.json)\n",
                 hash_print(key_hash(exported->key), hash));
    strbuf_print(text, "// device: %s, driver %s, compiled for %s by NVRTC %s\n",
                 exported->key->parts[KEY_DEVICE], exported->key->parts[KEY_DRIVER], architecture,
                 exported->key->parts[KEY_NVRTC]);
    strbuf_print(text, "// latency per call:\n");
    for (int c = 0; c < export->template->case_count; c++)
        if (request->cases[c].variant == variant)
            add_case_latency(&export->checked[c], request->predicted, text);
    strbuf_print(text, "// replay: %s\n\n", request->replay);
    strbuf_release(&specialised);
}

/* Includes the toolkit's headers before the macros of the genes, whose names they might use.
   Include guards make the original #include lines have no effect. */
static void add_includes(const char *source, struct strbuf *text) {
    const char *line = source;
    size_t before = text->used;
    while (*line != '\0') {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, "#include", 8) == 0)
            strbuf_print(text, "%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    if (text->used > before)
        strbuf_add(text, "\n", 1);
}

/* The offset of the line that defines the genome's mark: the last line before the template's text.
 */
static size_t find_mark_line(const char *source) {
    for (size_t at = 0; source[at] != '\0'; at++) {
        size_t length = strcspn(source + at, "\n");
        if (memmem(source + at, length, TEMPLATE_TAG_SYMBOL, sizeof TEMPLATE_TAG_SYMBOL - 1))
            return at;
        at += length;
        if (source[at] == '\0')
            break;
    }
    BUG("a source without %s", TEMPLATE_TAG_SYMBOL);
}

int write_kernel(const struct export *export, int variant, struct strbuf *text,
                 struct error *error) {
    char architecture[NAME_SIZE] = "";
    struct strbuf options = {0};
    const struct export_variant *exported = &export->request->variants[variant];
    char *source = template_source(export->template, exported->genome,
                                   template_variant(export->template, exported->case_index), error);
    if (source == NULL || variant_options(export, variant, architecture, &options, error) < 0) {
        strbuf_release(&options);
        free(source);
        return -1;
    }
    size_t mark = find_mark_line(source);
    const char *body = source + mark + strcspn(source + mark, "\n");
    body += strspn(body, "\n");
    add_header(export, variant, architecture, text);
    add_includes(body, text);
    strbuf_add(text, source, mark);
    /* nvcc takes `extern "C"` without braces for a declaration; with braces it is a definition. */
    strbuf_print(text, "extern \"C\" {\n__device__ unsigned long long %s = 0x%016llxull;\n}\n\n",
                 TEMPLATE_TAG_SYMBOL, (unsigned long long)template_genome_tag(exported->genome));
    strbuf_add(text, body, strlen(body));
    strbuf_release(&options);
    free(source);
    return 0;
}

/* Writes 8-byte little-endian words (every CUDA host is little-endian); pads the last one with
   zeros. */
int write_cubin(const struct export *export, int variant, struct strbuf *text,
                struct error *error) {
    const struct export_variant *exported = &export->request->variants[variant];
    char stem[STEM_SIZE];
    (void)error;
    strbuf_print(
        text,
        "/* %s.cubin: the machine code that was timed. Generated by evotile: do not edit. */\n"
        "const unsigned long long %s_%s_cubin[] = {",
        variant_stem(variant, stem), export->name, stem);
    size_t column = COLUMNS;
    for (size_t at = 0; at < exported->cubin_bytes; at += sizeof(uint64_t)) {
        size_t left = exported->cubin_bytes - at;
        uint64_t word = 0;
        char code[24];
        memcpy(&word, (const char *)exported->cubin + at, left < sizeof word ? left : sizeof word);
        size_t length = (size_t)snprintf(code, sizeof code, word < 10 ? "%llu," : "0x%llx,",
                                         (unsigned long long)word);
        bool fits = column + 1 + length <= COLUMNS;
        strbuf_print(text, "%s%s", fits ? " " : "\n    ", code);
        column = length + (fits ? column + 1 : 4);
    }
    strbuf_print(text, "\n};\n");
    return 0;
}
