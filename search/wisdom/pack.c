/* Packs a store into the file that libevotile_wisdom maps. docs/formats.md describes it. */
#define EVOTILE_WISDOM_FORMAT
#include "base/log.h"
#include "base/memory.h"
#include "base/signature.h"
#include "dispatch/tree.h"
#include "wisdom/evotile_wisdom.h"
#include "wisdom/key_numbers.h"
#include "wisdom/wisdom.h"

#include <math.h>
#include <string.h>

/* A figure that is packed, or may be. */
struct packed {
    const struct wisdom_figure *figure;
    int dimensions;
    const int64_t *shape;
    int code; /* its number in the file */
};

struct packer {
    struct wisdom_store *store;
    struct wisdom_counts *counts;
    struct strbuf sections[WISDOM_SECTIONS];
    struct strbuf *codes;                /* the bytes of each */
    struct key_numbers texts, code_keys; /* what is in the file once */
    uint32_t *text_offsets;
    int template_code; /* of the template that is packed now */
};

/* ---- what is in the file once ---- */

static uint32_t add_text(struct packer *it, const char *text) {
    bool is_new;
    struct strbuf *section = &it->sections[WISDOM_TEXT];
    const uint32_t number = key_numbers_of(&it->texts, text, &is_new);
    if (is_new) {
        it->text_offsets = xrealloc(it->text_offsets, it->texts.size * sizeof *it->text_offsets);
        it->text_offsets[number] = (uint32_t)section->used;
        strbuf_add(section, text, strlen(text) + 1);
    }
    return it->text_offsets[number];
}

static void add_item(struct packer *it, enum wisdom_section section, const void *item,
                     size_t size) {
    strbuf_add(&it->sections[section], item, size);
}

/* ---- codes ---- */

/* "sm_90a": 9, 0, exactly. */
static void read_architecture(const char *text, struct wisdom_code *code) {
    int number = 0;
    char suffix = '\0';
    sscanf(text, "sm_%d%c", &number, &suffix);
    code->major = number / 10;
    code->minor = number % 10;
    code->exact = suffix == 'a';
}

/* Adds a code unless it is there. `key` is the digest of a variant, or the hash of a template. */
static int add_code(struct packer *it, enum wisdom_codes table, const char *key,
                    const char *architecture, int *number, struct error *error) {
    bool is_new;
    size_t size;
    *number = (int)key_numbers_of(&it->code_keys, key, &is_new);
    if (!is_new)
        return 0;
    it->codes = xrealloc(it->codes, it->code_keys.size * sizeof *it->codes);
    it->codes[*number] = (struct strbuf){0};
    void *bytes = wisdom_store_code(it->store, table, key, &size, error);
    if (bytes == NULL)
        return -1;
    it->codes[*number] = (struct strbuf){.bytes = bytes, .used = size, .capacity = size};
    const struct wisdom_program *program = bytes;
    struct wisdom_code code = {.bytes = size};
    if (size < sizeof *program || program->cubin_bytes > size - sizeof *program)
        return error_set(error,
                         "a code of the wisdom store is cut short: remove the store, and add "
                         "the runs again");
    digest_bytes(bytes, size - program->cubin_bytes, code.digest);
    read_architecture(architecture, &code);
    add_item(it, WISDOM_CODES, &code, sizeof code);
    return 0;
}

/* ---- a group ---- */

static int compare_shapes(const struct packed *a, const struct packed *b) {
    for (int d = 0; d < a->dimensions; d++)
        if (a->shape[d] != b->shape[d])
            return a->shape[d] < b->shape[d] ? -1 : 1;
    return 0;
}

/* By shape; a measurement before a prediction; then the fastest. */
static int compare_packed(const void *left, const void *right) {
    const struct packed *a = left, *b = right;
    const int shapes = compare_shapes(a, b);
    if (shapes != 0)
        return shapes;
    if (a->figure->predicted != b->figure->predicted)
        return a->figure->predicted ? 1 : -1;
    if (a->figure->p50_us != b->figure->p50_us)
        return a->figure->p50_us < b->figure->p50_us ? -1 : 1;
    return a->figure->id < b->figure->id ? -1 : 1;
}

static void add_entry(struct packer *it, const struct packed *packed) {
    const struct wisdom_figure *of = packed->figure;
    const struct wisdom_entry entry = {.code = (uint32_t)packed->code,
                                       .flags = of->predicted ? WISDOM_PREDICTED : 0,
                                       .p10_us = of->p10_us,
                                       .p50_us = of->p50_us,
                                       .p90_us = of->p90_us,
                                       .low_us = of->low_us,
                                       .high_us = of->high_us,
                                       .measured_at = of->measured_at,
                                       .genome = add_text(it, of->genome),
                                       .driver = add_text(it, of->driver),
                                       .toolkit = add_text(it, of->toolkit),
                                       .conditions = add_text(it, of->conditions),
                                       .solution = add_text(it, of->solution),
                                       .template_hash = add_text(it, of->template_hash),
                                       .options = add_text(it, of->options),
                                       .smem_limit = (uint32_t)of->smem_limit};
    add_item(it, WISDOM_ENTRIES, &entry, sizeof entry);
    add_item(it, WISDOM_VALUES, of->values, (size_t)of->values_bytes);
    it->counts->added++;
}

/* The tree's input of each dimension: those of whole numbers that are not negative. */
struct inputs {
    int count, dimensions[EVOTILE_WISDOM_DIMENSIONS_MAX];
    char names[EVOTILE_WISDOM_DIMENSIONS_MAX][16];
    const char *pointers[EVOTILE_WISDOM_DIMENSIONS_MAX];
    int64_t maxima[EVOTILE_WISDOM_DIMENSIONS_MAX];
};

static void find_inputs(const struct packed *figures, int count, struct inputs *inputs) {
    *inputs = (struct inputs){0};
    for (int d = 0; d < figures[0].dimensions; d++) {
        int64_t least = INT64_MAX, most = INT64_MIN;
        for (int i = 0; i < count; i++) {
            least = figures[i].shape[d] < least ? figures[i].shape[d] : least;
            most = figures[i].shape[d] > most ? figures[i].shape[d] : most;
        }
        if (least < 0 || least == most)
            continue;
        const int n = inputs->count++;
        inputs->dimensions[n] = d;
        inputs->maxima[n] = most;
        snprintf(inputs->names[n], sizeof inputs->names[n], "d%d", d);
        inputs->pointers[n] = inputs->names[n];
    }
}

static void add_tree(struct packer *it, const struct tree *tree, const struct inputs *inputs,
                     const uint32_t *entry_of_kernel) {
    for (int i = 0; i < tree->node_count; i++) {
        const struct tree_node *from = &tree->nodes[i];
        struct wisdom_node node = {.at_most = from->at_most, .factors = {-1, -1, -1}};
        for (int f = 0; f < from->feature.factor_count; f++)
            node.factors[f] = inputs->dimensions[from->feature.factors[f]];
        if (from->feature.factor_count > 0) {
            node.then = (uint32_t)from->then;
            node.otherwise = (uint32_t)from->otherwise;
        } else {
            node.first_order = (uint32_t)(it->sections[WISDOM_ORDERS].used / sizeof(uint32_t));
            node.order_count = (uint32_t)tree->kernel_count;
            for (int k = 0; k < tree->kernel_count; k++)
                add_item(it, WISDOM_ORDERS, &entry_of_kernel[from->order[k]], sizeof(uint32_t));
        }
        add_item(it, WISDOM_NODES, &node, sizeof node);
    }
}

/* The kernels of a group, and what each took at each shape. */
struct matrix {
    int kernel_count, case_count;
    int codes[DISPATCH_KERNELS_MAX];
    uint32_t entries[DISPATCH_KERNELS_MAX]; /* the first that is of the code */
    int64_t *values;
    double *us;
};

static int find_kernel(const struct matrix *matrix, int code) {
    for (int k = 0; k < matrix->kernel_count; k++)
        if (matrix->codes[k] == code)
            return k;
    return -1;
}

/* The kernels are those of the entries: each is the best of some shape. A tree has room for so
   many, of which those come first that are the best of the first shapes; more are served at their
   own shapes alone. Returns whether there is something to decide. */
static bool find_kernels(const struct packed *figures, int count, struct matrix *matrix) {
    for (int i = 0; i < count; i++) {
        if (i > 0 && compare_shapes(&figures[i - 1], &figures[i]) == 0)
            continue;
        if (find_kernel(matrix, figures[i].code) < 0 &&
            matrix->kernel_count < DISPATCH_KERNELS_MAX) {
            matrix->codes[matrix->kernel_count] = figures[i].code;
            matrix->entries[matrix->kernel_count++] = (uint32_t)matrix->case_count;
        }
        matrix->case_count++;
    }
    return matrix->kernel_count > 1;
}

static void fill_matrix(const struct packed *figures, int count, const struct inputs *inputs,
                        struct matrix *matrix) {
    int row = -1;
    matrix->us =
        xcalloc((size_t)matrix->case_count * (size_t)matrix->kernel_count, sizeof *matrix->us);
    matrix->values =
        xcalloc((size_t)matrix->case_count * (size_t)inputs->count + 1, sizeof *matrix->values);
    for (int i = 0; i < count; i++) {
        const int kernel = find_kernel(matrix, figures[i].code);
        if (i == 0 || compare_shapes(&figures[i - 1], &figures[i]) != 0) {
            row++;
            for (int n = 0; n < inputs->count; n++)
                matrix->values[row * inputs->count + n] = figures[i].shape[inputs->dimensions[n]];
        }
        double *us = kernel >= 0 ? &matrix->us[row * matrix->kernel_count + kernel] : NULL;
        if (us != NULL && (*us == 0 || figures[i].figure->p50_us < *us))
            *us = figures[i].figure->p50_us;
    }
}

/* A kernel that was not measured at a shape counts as one that does not fit it. */
static void fit_group_tree(struct packer *it, const struct packed *figures, int count) {
    static const struct tree_limits limits = {.depth = 10, .leaf_cases = 1, .within = 0.02};
    struct matrix *matrix = xcalloc(1, sizeof *matrix);
    struct inputs *inputs = xcalloc(1, sizeof *inputs);
    struct tree tree;
    find_inputs(figures, count, inputs);
    if (find_kernels(figures, count, matrix) && inputs->count > 0) {
        fill_matrix(figures, count, inputs, matrix);
        const struct tree_inputs of = {
            .count = inputs->count, .names = inputs->pointers, .maxima = inputs->maxima};
        const struct kernel_times times = {.kernel_count = matrix->kernel_count,
                                           .case_count = matrix->case_count,
                                           .us = matrix->us};
        tree_fit(&tree, &of, matrix->values, &times, &limits);
        add_tree(it, &tree, inputs, matrix->entries);
        tree_release(&tree);
    }
    free(matrix->us);
    free(matrix->values);
    free(matrix);
    free(inputs);
}

static uint32_t add_device(struct packer *it, const struct wisdom_figure *of) {
    const struct wisdom_device device = {.name = add_text(it, of->device),
                                         .major = (int32_t)(of->compute_capability / 10),
                                         .minor = (int32_t)(of->compute_capability % 10),
                                         .sm_count = (int32_t)of->sm_count};
    const struct strbuf *section = &it->sections[WISDOM_DEVICES];
    const uint32_t count = (uint32_t)(section->used / sizeof device);
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(section->bytes + i * sizeof device, &device, sizeof device) == 0)
            return i;
    add_item(it, WISDOM_DEVICES, &device, sizeof device);
    return count;
}

/* Figures of one template and device. */
static int add_group(struct packer *it, uint32_t template_index, struct packed *figures, int count,
                     struct error *error) {
    struct wisdom_group group = {
        .template_index = template_index,
        .device = add_device(it, figures[0].figure),
        .first_entry = (uint32_t)(it->sections[WISDOM_ENTRIES].used / sizeof(struct wisdom_entry)),
        .first_node = (uint32_t)(it->sections[WISDOM_NODES].used / sizeof(struct wisdom_node)),
        .first_value = it->sections[WISDOM_VALUES].used / sizeof(int64_t)};
    for (int i = 0; i < count; i++)
        if (add_code(it, WISDOM_CODES_TABLE, figures[i].figure->code,
                     figures[i].figure->architecture, &figures[i].code, error) < 0)
            return -1;
    qsort(figures, (size_t)count, sizeof *figures, compare_packed);
    for (int i = 0; i < count; i++)
        if (i == 0 || compare_shapes(&figures[i - 1], &figures[i]) != 0) {
            add_entry(it, &figures[i]);
            group.entry_count++;
        }
    fit_group_tree(it, figures, count);
    group.node_count =
        (uint32_t)(it->sections[WISDOM_NODES].used / sizeof(struct wisdom_node)) - group.first_node;
    add_item(it, WISDOM_GROUPS, &group, sizeof group);
    return 0;
}

/* ---- a template ---- */

static bool same_device(const struct wisdom_figure *a, const struct wisdom_figure *b) {
    return strcmp(a->device, b->device) == 0 && a->compute_capability == b->compute_capability &&
           a->sm_count == b->sm_count;
}

/* Whether the code of another hash of the template has the same interface: the same bytes. */
static int same_interface(struct packer *it, const char *hash, const char *other, bool *same,
                          struct error *error) {
    size_t size, other_size;
    if (strcmp(hash, other) == 0) {
        *same = true;
        return 0;
    }
    void *bytes = wisdom_store_code(it->store, WISDOM_TEMPLATES_TABLE, hash, &size, error);
    void *others = bytes != NULL ? wisdom_store_code(it->store, WISDOM_TEMPLATES_TABLE, other,
                                                     &other_size, error)
                                 : NULL;
    *same = others != NULL && size == other_size && memcmp(bytes, others, size) == 0;
    free(bytes);
    const int status = others != NULL ? 0 : -1;
    free(others);
    return status;
}

/* Takes the figures, in the order of wisdom_store_read, whose interface is the newest one's. */
static int choose_figures(struct packer *it, const struct wisdom_figure *figures, int count,
                          struct packed *chosen, int *chosen_count, const char **hash,
                          struct error *error) {
    const struct wisdom_figure *newest = NULL;
    const char *compared = "";
    bool same = false;
    *chosen_count = 0;
    for (int i = 0; i < count; i++)
        if (figures[i].stale[0] == '\0' &&
            (newest == NULL || figures[i].measured_at > newest->measured_at))
            newest = &figures[i];
    for (int i = 0; i < count; i++) {
        if (figures[i].stale[0] != '\0')
            continue;
        if (strcmp(compared, figures[i].template_hash) != 0 &&
            same_interface(it, newest->template_hash, figures[i].template_hash, &same, error) < 0)
            return -1;
        compared = figures[i].template_hash;
        if (same)
            chosen[(*chosen_count)++] =
                (struct packed){.figure = &figures[i],
                                .dimensions = (int)(figures[i].values_bytes / 24),
                                .shape = figures[i].values};
        else
            it->counts->left_out++;
    }
    *hash = newest != NULL ? newest->template_hash : NULL;
    return 0;
}

static int compare_devices(const void *left, const void *right) {
    const struct wisdom_figure *a = ((const struct packed *)left)->figure,
                               *b = ((const struct packed *)right)->figure;
    const int names = strcmp(a->device, b->device);
    if (names != 0)
        return names;
    if (a->compute_capability != b->compute_capability)
        return a->compute_capability < b->compute_capability ? -1 : 1;
    if (a->sm_count != b->sm_count)
        return a->sm_count < b->sm_count ? -1 : 1;
    return a->id < b->id ? -1 : 1;
}

static int add_template(struct packer *it, const struct wisdom_figure *figures, int count,
                        struct error *error) {
    struct packed *chosen = xcalloc((size_t)count, sizeof *chosen);
    const char *hash;
    int chosen_count, code;
    struct hash digits = {0};
    int status = choose_figures(it, figures, count, chosen, &chosen_count, &hash, error);
    if (status == 0 && chosen_count > 0) {
        status = add_code(it, WISDOM_TEMPLATES_TABLE, hash, "", &code, error);
        hash_parse(&digits, hash);
        const struct wisdom_template template = {.name = add_text(it, figures[0].template_name),
                                                 .code = (uint32_t)code,
                                                 .hash = {digits.high, digits.low}};
        const uint32_t index = (uint32_t)(it->sections[WISDOM_TEMPLATES].used / sizeof template);
        add_item(it, WISDOM_TEMPLATES, &template, sizeof template);
        qsort(chosen, (size_t)chosen_count, sizeof *chosen, compare_devices);
        for (int first = 0, end; first < chosen_count && status == 0; first = end) {
            for (end = first + 1;
                 end < chosen_count && same_device(chosen[first].figure, chosen[end].figure); end++)
                ;
            status = add_group(it, index, chosen + first, end - first, error);
        }
    }
    free(chosen);
    return status;
}

/* ---- the file ---- */

static const size_t item_sizes[WISDOM_SECTIONS] = {
    [WISDOM_TEXT] = 1,
    [WISDOM_TEMPLATES] = sizeof(struct wisdom_template),
    [WISDOM_DEVICES] = sizeof(struct wisdom_device),
    [WISDOM_GROUPS] = sizeof(struct wisdom_group),
    [WISDOM_ENTRIES] = sizeof(struct wisdom_entry),
    [WISDOM_VALUES] = sizeof(int64_t),
    [WISDOM_NODES] = sizeof(struct wisdom_node),
    [WISDOM_ORDERS] = sizeof(uint32_t),
    [WISDOM_CODES] = sizeof(struct wisdom_code),
};

static void pad(struct strbuf *file, size_t to) {
    static const char zeros[16] = {0};
    strbuf_add(file, zeros, (to - file->used % to) % to);
}

/* Gives the codes their places, then writes everything. */
static void write_file(struct packer *it, struct strbuf *file) {
    struct wisdom_header header = {.magic = EVOTILE_WISDOM_MAGIC,
                                   .byte_order = WISDOM_BYTE_ORDER,
                                   .version = WISDOM_VERSION,
                                   .index_bytes = sizeof header};
    for (int s = 0; s < WISDOM_SECTIONS; s++) {
        header.index_bytes = (header.index_bytes + 7) / 8 * 8;
        header.sections[s].offset = header.index_bytes;
        header.sections[s].count = it->sections[s].used / item_sizes[s];
        header.index_bytes += it->sections[s].used;
    }
    header.file_bytes = header.index_bytes;
    struct wisdom_code *codes = (struct wisdom_code *)it->sections[WISDOM_CODES].bytes;
    for (uint32_t i = 0; i < it->code_keys.count; i++) {
        codes[i].offset = (header.file_bytes + 15) / 16 * 16;
        header.file_bytes = codes[i].offset + codes[i].bytes;
    }
    strbuf_add(file, (const char *)&header, sizeof header);
    for (int s = 0; s < WISDOM_SECTIONS; s++) {
        pad(file, 8);
        strbuf_add(file, it->sections[s].bytes != NULL ? it->sections[s].bytes : "",
                   it->sections[s].used);
    }
    digest_bytes(file->bytes, file->used, header.digest);
    memcpy(file->bytes, &header, sizeof header);
    for (uint32_t i = 0; i < it->code_keys.count; i++) {
        pad(file, 16);
        strbuf_add(file, it->codes[i].bytes, it->codes[i].used);
    }
}

static int add_templates(struct packer *it, const struct wisdom_figures *figures,
                         struct error *error) {
    int status = 0;
    add_text(it, "");
    for (int first = 0, end; first < figures->count && status == 0; first = end) {
        const char *name = figures->items[first].template_name;
        for (end = first + 1;
             end < figures->count && strcmp(figures->items[end].template_name, name) == 0; end++)
            ;
        status = add_template(it, figures->items + first, end - first, error);
    }
    return status;
}

int wisdom_pack(struct wisdom_store *store, struct wisdom_counts *counts, struct strbuf *file,
                struct error *error) {
    struct packer *it = xcalloc(1, sizeof *it);
    struct wisdom_figures figures = {0};
    it->store = store;
    it->counts = counts;
    int status = wisdom_store_begin(store, error);
    if (status == 0) {
        status = wisdom_store_read(store, &figures, error);
        if (status == 0)
            status = add_templates(it, &figures, error);
        status = wisdom_store_end(store, status, error);
    }
    if (status == 0 && counts->added == 0)
        status =
            error_input(error, "the wisdom store has no figure that is not stale: `evotile wisdom "
                               "add RUN` adds some");
    if (status == 0)
        write_file(it, file);
    for (int s = 0; s < WISDOM_SECTIONS; s++)
        strbuf_release(&it->sections[s]);
    for (uint32_t i = 0; i < it->code_keys.count && it->codes != NULL; i++)
        free(it->codes[i].bytes);
    free(it->codes);
    free(it->text_offsets);
    key_numbers_release(&it->texts);
    key_numbers_release(&it->code_keys);
    wisdom_figures_release(&figures);
    free(it);
    return status;
}
