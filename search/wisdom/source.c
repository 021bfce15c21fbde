/* Reads the figures of a store or of a packed file, for gate. */
#define EVOTILE_WISDOM_FORMAT
#include "base/json.h"
#include "base/memory.h"
#include "base/signature.h"
#include "wisdom/evotile_wisdom.h"
#include "wisdom/wisdom.h"

#include <string.h>
#include <sys/stat.h>

enum { FILE_BYTES_MAX = 1 << 30 };

static const char sqlite_magic[16] = "SQLite format 3";

bool wisdom_is_source(const char *path) {
    char start[sizeof sqlite_magic] = "";
    struct stat status;
    if (stat(path, &status) < 0 || !S_ISREG(status.st_mode)) /* a pipe would wait for ever */
        return false;
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return false;
    const size_t size = fread(start, 1, sizeof start, file);
    fclose(file);
    return (size >= 8 && memcmp(start, EVOTILE_WISDOM_MAGIC, 8) == 0) ||
           (size == sizeof start && memcmp(start, sqlite_magic, sizeof start) == 0);
}

/* ---- a packed file ---- */

/* What the library has checked. */
struct view {
    const struct wisdom_header *header;
    const char *text;
    const struct wisdom_template *templates;
    const struct wisdom_device *devices;
    const struct wisdom_group *groups;
    const struct wisdom_entry *entries;
    const int64_t *values;
    const struct wisdom_code *codes;
};

static struct view view_of(const char *file) {
    const struct wisdom_header *header = (const struct wisdom_header *)file;
    const void *at[WISDOM_SECTIONS];
    for (int s = 0; s < WISDOM_SECTIONS; s++)
        at[s] = file + header->sections[s].offset;
    return (struct view){.header = header,
                         .text = at[WISDOM_TEXT],
                         .templates = at[WISDOM_TEMPLATES],
                         .devices = at[WISDOM_DEVICES],
                         .groups = at[WISDOM_GROUPS],
                         .entries = at[WISDOM_ENTRIES],
                         .values = at[WISDOM_VALUES],
                         .codes = at[WISDOM_CODES]};
}

/* Of a template. */
struct dimensions {
    uint32_t count;
    const char *names[EVOTILE_WISDOM_DIMENSIONS_MAX];
    bool real[EVOTILE_WISDOM_DIMENSIONS_MAX];
};

/* The dimensions' names are of the template's code, whose program the library checks only when the
   template is opened: so it is checked here. */
static int name_dimensions(const char *file, const struct wisdom_code *code, const char **names,
                           struct error *error) {
    const struct wisdom_program *program = (const struct wisdom_program *)(file + code->offset);
    const size_t program_bytes = code->bytes - program->cubin_bytes;
    const uint32_t *offsets = (const uint32_t *)(program + 1);
    uint8_t digest[DIGEST_BYTES];
    const size_t counts = (size_t)program->dimension_count + program->tensor_count +
                          program->scalar_count + program->kernel_count;
    const size_t text = ((sizeof *program + counts * sizeof *offsets + 7) & ~(size_t)7) +
                        (size_t)program->instruction_count * sizeof(struct wisdom_instruction);
    digest_bytes(program, program_bytes, digest);
    bool holds = memcmp(digest, code->digest, sizeof digest) == 0 && text < program_bytes &&
                 program->text_bytes > 0 && program->text_bytes <= program_bytes - text &&
                 ((const char *)program)[text + program->text_bytes - 1] == '\0';
    for (uint32_t d = 0; holds && d < program->dimension_count; d++) {
        holds = offsets[d] < program->text_bytes;
        names[d] = (const char *)program + text + offsets[d];
    }
    return holds
               ? 0
               : error_set(error, "a template of the wisdom file is damaged: restore the file, or "
                                  "pack it again");
}

/* A dimension whose range is one of floats has the bits of one. */
static void find_reals(const char *file, const struct wisdom_code *code, bool *real) {
    const struct wisdom_program *program = (const struct wisdom_program *)(file + code->offset);
    const size_t names = (size_t)program->dimension_count + program->tensor_count +
                         program->scalar_count + program->kernel_count;
    const struct wisdom_instruction *at =
        (const void *)((const char *)program +
                       ((sizeof *program + names * sizeof(uint32_t) + 7) & ~(size_t)7));
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        if (at[i].op == WISDOM_REAL_RANGE && at[i].b < program->dimension_count)
            real[at[i].b] = true;
        i += at[i].op == WISDOM_PUSH_WIDE;
    }
}

static char *shape_json(const int64_t *values, const struct dimensions *of) {
    cJSON *object = cJSON_CreateObject();
    for (uint32_t d = 0; d < of->count; d++)
        cJSON_AddNumberToObject(object, of->names[d],
                                of->real[d] ? (double)dimension_real(values[d])
                                            : (double)values[d]);
    char *text = cJSON_PrintUnformatted(object);
    char *copy = xstrdup(text);
    cJSON_free(text);
    cJSON_Delete(object);
    return copy;
}

static char *case_name(const int64_t *values, const struct dimensions *of) {
    struct strbuf text = {0};
    char real[NAME_SIZE];
    strbuf_add(&text, "", 0);
    for (uint32_t d = 0; d < of->count; d++) {
        if (of->real[d])
            dimension_print_real(dimension_real(values[d]), real);
        else
            snprintf(real, sizeof real, "%lld", (long long)values[d]);
        strbuf_print(&text, "%s%s=%s", d > 0 ? "," : "", of->names[d], real);
    }
    return text.bytes;
}

/* Texts are copies, as wisdom_figures_release frees them. */
static struct wisdom_figure figure_of(const struct view *view, const struct wisdom_group *group,
                                      uint32_t index, const int64_t *values,
                                      const struct dimensions *dimensions) {
    const struct wisdom_entry *entry = &view->entries[group->first_entry + index];
    const struct wisdom_device *device = &view->devices[group->device];
    const struct wisdom_code *code = &view->codes[entry->code];
    char number[32], architecture[32];
    snprintf(number, sizeof number, "%u", entry->code);
    snprintf(architecture, sizeof architecture, "sm_%d%d%s", code->major, code->minor,
             code->exact ? "a" : "");
    const size_t bytes = 3 * dimensions->count * sizeof *values;
    return (struct wisdom_figure){
        .template_name = xstrdup(view->text + view->templates[group->template_index].name),
        .template_hash = xstrdup(view->text + entry->template_hash),
        .device = xstrdup(view->text + device->name),
        .case_name = case_name(values, dimensions),
        .code = xstrdup(number),
        .driver = xstrdup(view->text + entry->driver),
        .toolkit = xstrdup(view->text + entry->toolkit),
        .compute_capability = 10 * device->major + device->minor,
        .sm_count = device->sm_count,
        .solution = xstrdup(view->text + entry->solution),
        .shape = shape_json(values, dimensions),
        .genome = xstrdup(view->text + entry->genome),
        .architecture = xstrdup(architecture),
        .options = xstrdup(view->text + entry->options),
        .checks = xstrdup(""),
        .conditions = xstrdup(view->text + entry->conditions),
        .smem_limit = entry->smem_limit,
        .p10_us = entry->p10_us,
        .p50_us = entry->p50_us,
        .p90_us = entry->p90_us,
        .low_us = entry->low_us,
        .high_us = entry->high_us,
        .predicted = entry->flags & WISDOM_PREDICTED,
        .measured_at = entry->measured_at,
        .values = memcpy(xmalloc(bytes + 1), values, bytes),
        .values_bytes = (int64_t)bytes,
        .stale = xstrdup(""),
        .checked_driver = xstrdup(""),
    };
}

static int read_entries(struct wisdom_source *source, struct error *error) {
    const struct view view = view_of(source->file);
    source->figures.items =
        xcalloc(view.header->sections[WISDOM_ENTRIES].count + 1, sizeof *source->figures.items);
    for (uint64_t g = 0; g < view.header->sections[WISDOM_GROUPS].count; g++) {
        const struct wisdom_group *group = &view.groups[g];
        const struct wisdom_code *code = &view.codes[view.templates[group->template_index].code];
        struct dimensions dimensions = {
            .count =
                ((const struct wisdom_program *)(source->file + code->offset))->dimension_count};
        if (name_dimensions(source->file, code, dimensions.names, error) < 0)
            return -1;
        find_reals(source->file, code, dimensions.real);
        for (uint32_t i = 0; i < group->entry_count; i++)
            source->figures.items[source->figures.count++] = figure_of(
                &view, group, i,
                view.values + group->first_value + (size_t)i * 3 * dimensions.count, &dimensions);
    }
    return 0;
}

static int open_file(struct wisdom_source *source, const char *path, struct error *error) {
    struct evotile_wisdom *wisdom;
    struct evotile_wisdom_message message;
    size_t size;
    if (evotile_wisdom_load(&wisdom, path, &message) != 0)
        return error_input(error, "%s", message.text);
    evotile_wisdom_free(wisdom);
    source->file = path_read_file(path, FILE_BYTES_MAX, &size, error);
    if (source->file == NULL)
        return -1;
    if (size != ((const struct wisdom_header *)source->file)->file_bytes)
        return error_set(error, "%s changed while it was read: try again", path);
    return read_entries(source, error);
}

/* ---- either ---- */

int wisdom_source_open(struct wisdom_source *source, const char *path, struct error *error) {
    char start[8] = "";
    *source = (struct wisdom_source){0};
    FILE *file = fopen(path, "rbe");
    const bool packed = file != NULL && fread(start, 1, sizeof start, file) == sizeof start &&
                        memcmp(start, EVOTILE_WISDOM_MAGIC, sizeof start) == 0;
    if (file != NULL)
        fclose(file);
    if (packed)
        return open_file(source, path, error);
    source->store = wisdom_store_open(path, STORE_WRITE, error);
    return source->store == NULL ? -1 : wisdom_store_read(source->store, &source->figures, error);
}

void wisdom_source_close(struct wisdom_source *source) {
    wisdom_figures_release(&source->figures);
    wisdom_store_close(source->store);
    free(source->file);
}

void *wisdom_source_cubin(const struct wisdom_source *source, const struct wisdom_figure *figure,
                          size_t *size, struct error *error) {
    size_t bytes;
    char *code = NULL;
    uint8_t digest[DIGEST_BYTES];
    if (source->store != NULL) {
        code = wisdom_store_code(source->store, WISDOM_CODES_TABLE, figure->code, &bytes, error);
        if (code == NULL)
            return NULL;
    } else {
        const struct wisdom_code *of =
            &view_of(source->file).codes[strtoul(figure->code, NULL, 10)];
        bytes = of->bytes;
        code = memcpy(xmalloc(bytes), source->file + of->offset, bytes);
    }
    const struct wisdom_program *program = (const struct wisdom_program *)code;
    const bool whole = bytes >= sizeof *program && program->cubin_bytes <= bytes &&
                       program->cubin_padding <= program->cubin_bytes;
    const size_t padded = whole ? program->cubin_bytes : 0;
    const size_t padding = whole ? program->cubin_padding : 0;
    digest_bytes(code + bytes - padded, padded, digest);
    if (!whole || memcmp(digest, program->cubin_digest, sizeof digest) != 0) {
        error_refuse(error, "the machine code of %s %s was changed: restore the file",
                     figure->template_name, figure->case_name);
        free(code);
        return NULL;
    }
    *size = padded - padding;
    memmove(code, code + bytes - padded, *size);
    return code;
}
