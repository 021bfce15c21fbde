/* libevotile_wisdom: see evotile_wisdom.h. One file, so that a program can take it into its own
 * build: cc -std=gnu11 -I/usr/local/cuda/include -c evotile_wisdom.c        then link with -ldl -lm
 * In this order: BLAKE2b, the file, devices, programs and their check, picking, the driver,
 * launching. */
#define _GNU_SOURCE
#define EVOTILE_WISDOM_FORMAT
#include "evotile_wisdom.h"

#include <cuda.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((format(printf, 3, 4))) static int refuse(struct evotile_wisdom_message *message,
                                                        int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (message != NULL)
        vsnprintf(message->text, sizeof message->text, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- BLAKE2b of 256 bits (RFC 7693) ---- */

static uint64_t rotate(uint64_t word, int bits) {
    return word >> bits | word << (64 - bits);
}

#define MIX(a, b, c, d, x, y)                                                                      \
    v[a] += v[b] + words[x];                                                                       \
    v[d] = rotate(v[d] ^ v[a], 32);                                                                \
    v[c] += v[d];                                                                                  \
    v[b] = rotate(v[b] ^ v[c], 24);                                                                \
    v[a] += v[b] + words[y];                                                                       \
    v[d] = rotate(v[d] ^ v[a], 16);                                                                \
    v[c] += v[d];                                                                                  \
    v[b] = rotate(v[b] ^ v[c], 63);

static void mix_block(uint64_t state[8], const uint8_t block[128], uint64_t hashed, int last) {
    static const uint64_t start[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                      0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                      0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
    static const uint8_t order[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                          {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                          {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                          {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                          {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                          {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                          {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                          {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                          {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                          {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
    uint64_t v[16], words[16];
    memcpy(words, block, sizeof words);
    memcpy(v, state, 64);
    memcpy(v + 8, start, 64);
    v[12] ^= hashed;
    v[14] ^= last ? ~UINT64_C(0) : 0;
    for (int round = 0; round < 12; round++) {
        const uint8_t *at = order[round % 10];
        MIX(0, 4, 8, 12, at[0], at[1])
        MIX(1, 5, 9, 13, at[2], at[3])
        MIX(2, 6, 10, 14, at[4], at[5])
        MIX(3, 7, 11, 15, at[6], at[7])
        MIX(0, 5, 10, 15, at[8], at[9])
        MIX(1, 6, 11, 12, at[10], at[11])
        MIX(2, 7, 8, 13, at[12], at[13])
        MIX(3, 4, 9, 14, at[14], at[15])
    }
    for (int i = 0; i < 8; i++)
        state[i] ^= v[i] ^ v[i + 8];
}

/* Of `head`, whose size is a multiple of 128 bytes or which is all, and of `tail`. */
static void digest(const uint8_t *head, size_t head_bytes, const uint8_t *tail, size_t tail_bytes,
                   uint8_t out[WISDOM_DIGEST_BYTES]) {
    uint64_t state[8] = {0x6a09e667f3bcc908 ^ 0x01010020,
                         0xbb67ae8584caa73b,
                         0x3c6ef372fe94f82b,
                         0xa54ff53a5f1d36f1,
                         0x510e527fade682d1,
                         0x9b05688c2b3e6c1f,
                         0x1f83d9abfb41bd6b,
                         0x5be0cd19137e2179};
    uint64_t hashed = 0;
    uint8_t block[128];
    for (int part = 0; part < 2; part++) {
        const uint8_t *at = part == 0 ? head : tail;
        size_t left = part == 0 ? head_bytes : tail_bytes;
        const int final = part == 1 || tail_bytes == 0;
        for (; left > 128 || (left == 128 && !final); at += 128, left -= 128)
            mix_block(state, at, hashed += 128, 0);
        if (!final)
            continue;
        memset(block, 0, sizeof block);
        memcpy(block, at, left);
        mix_block(state, block, hashed += left, 1);
        break;
    }
    memcpy(out, state, WISDOM_DIGEST_BYTES);
}

/* ---- the file ---- */

struct evotile_wisdom {
    const uint8_t *bytes;
    size_t size;
    const struct wisdom_header *header;
    const char *text;
    const struct wisdom_template *templates;
    const struct wisdom_device *devices;
    const struct wisdom_group *groups;
    const struct wisdom_entry *entries;
    const int64_t *values;
    const struct wisdom_node *nodes;
    const uint32_t *orders;
    const struct wisdom_code *codes;
    char path[256]; /* for messages */
};

static const size_t item_bytes[WISDOM_SECTIONS] = {
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

static uint64_t count_of(const struct evotile_wisdom *wisdom, enum wisdom_section section) {
    return wisdom->header->sections[section].count;
}

static int damaged(const struct evotile_wisdom *wisdom, struct evotile_wisdom_message *message,
                   const char *what) {
    return refuse(message, EVOTILE_WISDOM_BAD_FILE,
                  "%s is damaged (%s): restore it, or pack it again with `evotile wisdom pack`",
                  wisdom->path, what);
}

/* Sections lie where the one before ends, so that none overlaps another. */
static int check_sections(const struct evotile_wisdom *wisdom,
                          struct evotile_wisdom_message *message) {
    const struct wisdom_header *header = wisdom->header;
    uint64_t end = sizeof *header;
    for (int s = 0; s < WISDOM_SECTIONS; s++) {
        end = (end + 7) / 8 * 8;
        const uint64_t left = end <= header->index_bytes ? header->index_bytes - end : 0;
        if (header->sections[s].offset != end || header->sections[s].count > UINT32_MAX - 1 ||
            header->sections[s].count > left / item_bytes[s])
            return damaged(wisdom, message, "a section lies outside the index");
        end += header->sections[s].count * item_bytes[s];
    }
    if (end != header->index_bytes)
        return damaged(wisdom, message, "its index has another size");
    if (count_of(wisdom, WISDOM_TEXT) == 0 || wisdom->text[0] != '\0' ||
        wisdom->text[count_of(wisdom, WISDOM_TEXT) - 1] != '\0')
        return damaged(wisdom, message, "its texts have no end");
    return 0;
}

static int is_text(const struct evotile_wisdom *wisdom, uint32_t offset) {
    return offset < count_of(wisdom, WISDOM_TEXT) &&
           (offset == 0 || wisdom->text[offset - 1] == '\0');
}

/* Codes follow the index in their order, without overlap. */
static int check_codes(const struct evotile_wisdom *wisdom,
                       struct evotile_wisdom_message *message) {
    uint64_t end = wisdom->header->index_bytes;
    for (uint64_t i = 0; i < count_of(wisdom, WISDOM_CODES); i++) {
        const struct wisdom_code *code = &wisdom->codes[i];
        for (; end % 16 != 0; end++)
            if (end < wisdom->size && wisdom->bytes[end] != 0)
                return damaged(wisdom, message, "something lies between its codes");
        if (code->offset != end || code->offset > wisdom->size ||
            code->bytes > wisdom->size - code->offset ||
            code->bytes < sizeof(struct wisdom_program))
            return damaged(wisdom, message, "a code lies outside the file");
        const struct wisdom_program *program =
            (const struct wisdom_program *)(wisdom->bytes + code->offset);
        if (program->cubin_bytes > code->bytes - sizeof *program ||
            program->cubin_padding > program->cubin_bytes ||
            (code->bytes - program->cubin_bytes) % 16 != 0)
            return damaged(wisdom, message, "machine code lies outside its code");
        end += code->bytes;
    }
    return end == wisdom->size ? 0 : damaged(wisdom, message, "bytes follow its last code");
}

static const struct wisdom_program *program_of(const struct evotile_wisdom *wisdom, uint32_t code) {
    return (const struct wisdom_program *)(wisdom->bytes + wisdom->codes[code].offset);
}

static int check_tables(const struct evotile_wisdom *wisdom,
                        struct evotile_wisdom_message *message) {
    const uint64_t codes = count_of(wisdom, WISDOM_CODES);
    for (uint64_t i = 0; i < count_of(wisdom, WISDOM_TEMPLATES); i++)
        if (!is_text(wisdom, wisdom->templates[i].name) || wisdom->templates[i].code >= codes ||
            (i > 0 && strcmp(wisdom->text + wisdom->templates[i - 1].name,
                             wisdom->text + wisdom->templates[i].name) >= 0) ||
            program_of(wisdom, wisdom->templates[i].code)->dimension_count >
                EVOTILE_WISDOM_DIMENSIONS_MAX)
            return damaged(wisdom, message, "a template does not hold");
    for (uint64_t i = 0; i < count_of(wisdom, WISDOM_DEVICES); i++)
        if (!is_text(wisdom, wisdom->devices[i].name) || wisdom->devices[i].sm_count < 1 ||
            wisdom->devices[i].major < 1 || wisdom->devices[i].major > 999 ||
            wisdom->devices[i].minor < 0 || wisdom->devices[i].minor > 9)
            return damaged(wisdom, message, "a device does not hold");
    return 0;
}

static int is_leaf(const struct wisdom_node *node) {
    return node->factors[0] < 0 && node->factors[1] < 0 && node->factors[2] < 0;
}

static int leaf_holds(const struct evotile_wisdom *wisdom, const struct wisdom_group *group,
                      const struct wisdom_node *leaf) {
    const uint64_t count = count_of(wisdom, WISDOM_ORDERS);
    if (leaf->first_order > count || leaf->order_count > count - leaf->first_order)
        return 0;
    for (uint32_t i = 0; i < leaf->order_count; i++)
        if (wisdom->orders[leaf->first_order + i] >= group->entry_count)
            return 0;
    return 1;
}

/* A tree's children follow their parent, so that every walk ends. */
static int check_nodes(const struct evotile_wisdom *wisdom, const struct wisdom_group *group,
                       uint32_t dimensions, struct evotile_wisdom_message *message) {
    const struct wisdom_node *nodes = wisdom->nodes + group->first_node;
    for (uint32_t i = 0; i < group->node_count; i++) {
        int holds = is_leaf(&nodes[i])
                        ? leaf_holds(wisdom, group, &nodes[i])
                        : nodes[i].then > i && nodes[i].then < group->node_count &&
                              nodes[i].otherwise > i && nodes[i].otherwise < group->node_count;
        for (int f = 0; f < 3; f++)
            holds = holds && nodes[i].factors[f] < (int32_t)dimensions;
        if (!holds)
            return damaged(wisdom, message, "a decision tree does not hold");
    }
    return 0;
}

static int check_entries(const struct evotile_wisdom *wisdom, const struct wisdom_group *group,
                         uint32_t dimensions, struct evotile_wisdom_message *message) {
    const struct wisdom_entry *entries = wisdom->entries + group->first_entry;
    const int64_t *shape = wisdom->values + group->first_value;
    for (uint32_t i = 0; i < group->entry_count; i++, shape += 3 * dimensions) {
        if (entries[i].code >= count_of(wisdom, WISDOM_CODES) ||
            program_of(wisdom, entries[i].code)->dimension_count != dimensions ||
            !is_text(wisdom, entries[i].genome) || !is_text(wisdom, entries[i].driver) ||
            !is_text(wisdom, entries[i].toolkit) || !is_text(wisdom, entries[i].conditions) ||
            !is_text(wisdom, entries[i].solution) || !is_text(wisdom, entries[i].template_hash) ||
            !is_text(wisdom, entries[i].options) || !isfinite(entries[i].p50_us) ||
            entries[i].p50_us < 0)
            return damaged(wisdom, message, "an entry does not hold");
        uint32_t d = 0;
        while (i > 0 && d < dimensions && shape[d] == (shape - 3 * dimensions)[d])
            d++;
        if (i > 0 && (d == dimensions || shape[d] < (shape - 3 * dimensions)[d]))
            return damaged(wisdom, message, "its entries are not in order");
    }
    return 0;
}

static int check_groups(const struct evotile_wisdom *wisdom,
                        struct evotile_wisdom_message *message) {
    uint64_t entry = 0, node = 0, value = 0;
    for (uint64_t i = 0; i < count_of(wisdom, WISDOM_GROUPS); i++) {
        const struct wisdom_group *group = &wisdom->groups[i];
        if (group->template_index >= count_of(wisdom, WISDOM_TEMPLATES) ||
            group->device >= count_of(wisdom, WISDOM_DEVICES) || group->first_entry != entry ||
            group->first_node != node || group->first_value != value)
            return damaged(wisdom, message, "a group does not hold");
        const uint32_t dimensions =
            program_of(wisdom, wisdom->templates[group->template_index].code)->dimension_count;
        entry += group->entry_count;
        node += group->node_count;
        value += (uint64_t)group->entry_count * 3 * dimensions;
        if (group->entry_count == 0 || entry > count_of(wisdom, WISDOM_ENTRIES) ||
            node > count_of(wisdom, WISDOM_NODES) || value > count_of(wisdom, WISDOM_VALUES))
            return damaged(wisdom, message, "a group lies outside its entries");
        if (check_entries(wisdom, group, dimensions, message) < 0 ||
            check_nodes(wisdom, group, dimensions, message) < 0)
            return EVOTILE_WISDOM_BAD_FILE;
    }
    return entry == count_of(wisdom, WISDOM_ENTRIES) && node == count_of(wisdom, WISDOM_NODES) &&
                   value == count_of(wisdom, WISDOM_VALUES)
               ? 0
               : damaged(wisdom, message, "entries are of no group");
}

/* What can be said without the index: whose file it is. */
static int check_header(const struct evotile_wisdom *wisdom,
                        struct evotile_wisdom_message *message) {
    const struct wisdom_header *header = wisdom->header;
    if (wisdom->size < sizeof header->magic ||
        memcmp(header->magic, EVOTILE_WISDOM_MAGIC, sizeof header->magic) != 0)
        return refuse(message, EVOTILE_WISDOM_BAD_FILE,
                      "%s is no wisdom file: give one that `evotile wisdom pack` wrote",
                      wisdom->path);
    if (wisdom->size < sizeof *header)
        return damaged(wisdom, message, "it was cut short");
    if (header->byte_order != WISDOM_BYTE_ORDER)
        return refuse(message, EVOTILE_WISDOM_BAD_FILE,
                      "%s has another byte order than this machine: wisdom files are little-endian",
                      wisdom->path);
    if (header->version != WISDOM_VERSION)
        return refuse(message, EVOTILE_WISDOM_BAD_FILE,
                      "%s has version %u, and this library reads version %d: build with the "
                      "evotile_wisdom.c of the evotile that packed it, or pack it with this one",
                      wisdom->path, header->version, WISDOM_VERSION);
    if (header->file_bytes != wisdom->size)
        return damaged(wisdom, message,
                       header->file_bytes > wisdom->size ? "it was cut short" : "it is too long");
    if (header->index_bytes < sizeof *header || header->index_bytes > wisdom->size)
        return damaged(wisdom, message, "its index lies outside the file");
    return 0;
}

static int check_digest(const struct evotile_wisdom *wisdom,
                        struct evotile_wisdom_message *message) {
    uint8_t found[WISDOM_DIGEST_BYTES];
    struct {
        struct wisdom_header header;
        uint8_t rest[(128 - sizeof(struct wisdom_header) % 128) % 128];
    } head = {.header = *wisdom->header};
    const size_t index = wisdom->header->index_bytes - sizeof head.header;
    const size_t rest = index < sizeof head.rest ? index : sizeof head.rest;
    memset(head.header.digest, 0, sizeof head.header.digest);
    memcpy(head.rest, wisdom->bytes + sizeof head.header, rest);
    digest((const uint8_t *)&head, sizeof head.header + rest,
           wisdom->bytes + sizeof head.header + rest, index - rest, found);
    return memcmp(found, wisdom->header->digest, sizeof found) == 0
               ? 0
               : damaged(wisdom, message, "its index has another digest");
}

static void find_sections(struct evotile_wisdom *wisdom) {
    const void *at[WISDOM_SECTIONS];
    for (int s = 0; s < WISDOM_SECTIONS; s++)
        at[s] = wisdom->bytes + wisdom->header->sections[s].offset;
    wisdom->text = at[WISDOM_TEXT];
    wisdom->templates = at[WISDOM_TEMPLATES];
    wisdom->devices = at[WISDOM_DEVICES];
    wisdom->groups = at[WISDOM_GROUPS];
    wisdom->entries = at[WISDOM_ENTRIES];
    wisdom->values = at[WISDOM_VALUES];
    wisdom->nodes = at[WISDOM_NODES];
    wisdom->orders = at[WISDOM_ORDERS];
    wisdom->codes = at[WISDOM_CODES];
}

static int check_file(struct evotile_wisdom *wisdom, struct evotile_wisdom_message *message) {
    if (check_header(wisdom, message) < 0 || check_digest(wisdom, message) < 0)
        return EVOTILE_WISDOM_BAD_FILE;
    for (int s = 0; s < WISDOM_SECTIONS; s++)
        if (wisdom->header->sections[s].offset > wisdom->header->index_bytes)
            return damaged(wisdom, message, "a section lies outside the index");
    find_sections(wisdom);
    return check_sections(wisdom, message) < 0 || check_codes(wisdom, message) < 0 ||
                   check_tables(wisdom, message) < 0
               ? EVOTILE_WISDOM_BAD_FILE
               : check_groups(wisdom, message);
}

/* Does not wait for a pipe, and follows no link. */
static int map_file(struct evotile_wisdom *wisdom, const char *path,
                    struct evotile_wisdom_message *message) {
    struct stat status;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) < 0 || !S_ISREG(status.st_mode)) {
        const char *kind = file >= 0 ? "it is no regular file" : strerror(errno);
        if (file >= 0)
            close(file);
        return refuse(message, EVOTILE_WISDOM_BAD_FILE,
                      "cannot read %s: %s: give the file itself that `evotile wisdom pack` wrote",
                      wisdom->path, kind);
    }
    wisdom->size = (size_t)status.st_size;
    void *bytes =
        wisdom->size > 0 ? mmap(NULL, wisdom->size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    close(file);
    if (bytes == MAP_FAILED)
        return refuse(message, EVOTILE_WISDOM_BAD_FILE,
                      "%s is empty or cannot be mapped: pack it again with `evotile wisdom pack`",
                      wisdom->path);
    wisdom->bytes = bytes;
    wisdom->header = bytes;
    return 0;
}

int evotile_wisdom_load(struct evotile_wisdom **wisdom, const char *path,
                        struct evotile_wisdom_message *message) {
    struct evotile_wisdom *loaded = calloc(1, sizeof *loaded);
    *wisdom = NULL;
    refuse(message, 0, "%s", "");
    if (loaded == NULL)
        return refuse(message, EVOTILE_WISDOM_NO_MEMORY, "out of memory");
    snprintf(loaded->path, sizeof loaded->path, "%s", path);
    int status = map_file(loaded, path, message);
    if (status == 0)
        status = check_file(loaded, message);
    if (status == 0)
        *wisdom = loaded;
    else
        evotile_wisdom_free(loaded);
    return status;
}

void evotile_wisdom_free(struct evotile_wisdom *wisdom) {
    if (wisdom != NULL && wisdom->bytes != NULL)
        munmap((void *)wisdom->bytes, wisdom->size);
    free(wisdom);
}

/* ---- programs ---- */

/* A code of a template on a device. The driver's handles are set under `loading`, once. */
struct machine {
    const struct wisdom_program *program;
    const uint32_t *names;
    const struct wisdom_instruction *instructions;
    const char *text;
    uint32_t code;
    int runs; /* on the device that was asked for */
    _Atomic(CUlibrary) library;
    _Atomic(CUkernel) *kernels;
};

/* What a pick found. Programs pick the same shapes again and again: the second time it is looked up
   here. It never changes and stays until its kernel is closed, so that readers need no lock. */
struct kept_pick {
    int status;
    unsigned flags;
    uint32_t entry;
    enum evotile_wisdom_how how;
    int predicted;
    double p50_us;
    int64_t values[]; /* what the caller gave, then every dimension */
};

/* At most so many picks are kept of a kernel, each near the place that its hash says. */
enum { KEPT_PICKS = 16384, KEPT_NEIGHBOURS = 16 };

struct evotile_wisdom_kernel {
    const struct evotile_wisdom *wisdom;
    const struct wisdom_group *group;
    const int64_t *values;
    struct machine defaults; /* the template's own program */
    struct machine *machines;
    uint32_t machine_count, *machine_of; /* by entry */
    uint32_t dimension_count, *table, table_mask;
    _Atomic(struct kept_pick *) *kept;                 /* KEPT_PICKS; NULL: none there */
    uint32_t given_count;                              /* dimensions that the caller names */
    double *logarithms;                                /* of the entries' shapes */
    int all_dimensions;                                /* the caller names each */
    int real[EVOTILE_WISDOM_DIMENSIONS_MAX];           /* the dimension has the bits of a float */
    int dimension_from[EVOTILE_WISDOM_DIMENSIONS_MAX]; /* its place in the caller's list, or -1 */
    int tensor_from[EVOTILE_WISDOM_TENSORS_MAX], scalar_from[WISDOM_SCALARS_MAX];
    struct evotile_wisdom_device tuned_on;
    int same_model;
    char name[64];
    pthread_mutex_t loading;
};

/* What an instruction takes from the stack and puts on it; some take more, see needs_of. And the
   phase of a program in which it may stand: 1: before WISDOM_ADMITTED; 2: before WISDOM_SIZED; 4:
   behind that. */
struct effect {
    uint8_t pops, pushes, phases;
};

static const struct effect effects[WISDOM_OP_COUNT] = {
    [WISDOM_END] = {0, 0, 7},
    [WISDOM_PUSH] = {0, 1, 7},
    [WISDOM_PUSH_WIDE] = {0, 1, 7},
    [WISDOM_LOAD] = {0, 1, 7},
    [WISDOM_STORE] = {1, 0, 7},
    [WISDOM_DROP] = {1, 0, 7},
    [WISDOM_NEGATE] = {1, 1, 7},
    [WISDOM_NOT] = {1, 1, 7},
    [WISDOM_TRUTH] = {1, 1, 7},
    [WISDOM_LOG2] = {1, 1, 7},
    [WISDOM_ADD] = {2, 1, 7},
    [WISDOM_SUBTRACT] = {2, 1, 7},
    [WISDOM_MULTIPLY] = {2, 1, 7},
    [WISDOM_DIVIDE] = {2, 1, 7},
    [WISDOM_REMAINDER] = {2, 1, 7},
    [WISDOM_MIN] = {2, 1, 7},
    [WISDOM_MAX] = {2, 1, 7},
    [WISDOM_CEIL_DIV] = {2, 1, 7},
    [WISDOM_EQUAL] = {2, 1, 7},
    [WISDOM_NOT_EQUAL] = {2, 1, 7},
    [WISDOM_LESS] = {2, 1, 7},
    [WISDOM_LESS_EQUAL] = {2, 1, 7},
    [WISDOM_GREATER] = {2, 1, 7},
    [WISDOM_GREATER_EQUAL] = {2, 1, 7},
    [WISDOM_JUMP] = {0, 0, 7},
    [WISDOM_JUMP_IF_ZERO] = {1, 0, 7},
    [WISDOM_DEFAULT] = {1, 0, 1},
    [WISDOM_REQUIRE] = {1, 0, 7},
    [WISDOM_REAL_RANGE] = {2, 0, 1},
    [WISDOM_FITS] = {0, 1, 7},
    [WISDOM_ADMITTED] = {0, 0, 1},
    [WISDOM_STRIDE] = {1, 1, 7},
    [WISDOM_PART] = {1, 0, 2},
    [WISDOM_SIZED] = {0, 0, 2},
    [WISDOM_CHECK] = {0, 0, 4},
    [WISDOM_CHECK_STRIDES] = {1, 0, 4},
    [WISDOM_CLEAR] = {0, 0, 4},
    [WISDOM_COPY] = {1, 0, 4},
    [WISDOM_ROUNDS] = {1, 0, 4},
    [WISDOM_NEXT] = {0, 0, 4},
    [WISDOM_ARGUMENT_POINTER] = {0, 0, 4},
    [WISDOM_ARGUMENT_NULL] = {0, 0, 4},
    [WISDOM_ARGUMENT_I32] = {1, 0, 4},
    [WISDOM_ARGUMENT_I64] = {1, 0, 4},
    [WISDOM_ARGUMENT_F32] = {1, 0, 4},
    [WISDOM_ARGUMENT_F64] = {1, 0, 4},
    [WISDOM_ARGUMENT_SCALAR] = {0, 0, 4},
    [WISDOM_ARGUMENT_MAP] = {0, 0, 4},
    [WISDOM_ARGUMENT_NO_MAP] = {0, 0, 4},
    [WISDOM_WINDOW] = {2, 0, 4},
    [WISDOM_LAUNCH] = {9, 0, 4},
};

/* A map's swizzle in the low byte of b, and whether its strides are on the stack. */
enum { MAP_STRIDES = 256, MAP_RANK_MAX = 5 };

static int needs_of(const struct wisdom_instruction *it) {
    if (it->op == WISDOM_FITS)
        return it->a;
    if (it->op == WISDOM_ARGUMENT_MAP)
        return 1 + 2 * it->c + (it->b & MAP_STRIDES ? it->c - 1 : 0);
    return effects[it->op].pops;
}

/* Whether what it names is there. */
static int names_exist(const struct machine *machine, const struct wisdom_instruction *it,
                       int32_t pc) {
    const struct wisdom_program *of = machine->program;
    const int tensor = it->a < of->tensor_count;
    const int workspace = tensor && of->roles[it->a] == WISDOM_WORKSPACE;
    switch ((enum wisdom_op)it->op) {
    case WISDOM_LOAD:
    case WISDOM_STORE:
        return it->b < of->slot_count;
    case WISDOM_DEFAULT:
    case WISDOM_REAL_RANGE:
        return it->b < of->dimension_count && it->a <= 1;
    case WISDOM_JUMP:
    case WISDOM_JUMP_IF_ZERO:
        return it->c > pc && it->c < (int32_t)of->instruction_count;
    case WISDOM_REQUIRE:
        return it->c >= 0 && (uint32_t)it->c < of->text_bytes;
    case WISDOM_FITS:
        return it->a >= 1 && it->a <= 8;
    case WISDOM_STRIDE:
        return tensor && !workspace && it->b < 8;
    case WISDOM_PART:
    case WISDOM_CLEAR:
        return workspace;
    case WISDOM_CHECK:
        return tensor && !workspace && it->c > 0;
    case WISDOM_CHECK_STRIDES:
        return tensor && !workspace && it->c > 0 && it->b <= 8;
    case WISDOM_COPY:
        return tensor && !workspace && it->c >= 0 && (uint32_t)it->c < of->text_bytes;
    case WISDOM_ROUNDS:
        return it->b + 1u < of->slot_count && it->c > pc && it->c < (int32_t)of->instruction_count;
    case WISDOM_NEXT:
        return it->b + 1u < of->slot_count;
    case WISDOM_ARGUMENT_POINTER:
    case WISDOM_WINDOW:
        return tensor;
    case WISDOM_ARGUMENT_SCALAR:
        return it->a < of->scalar_count;
    case WISDOM_ARGUMENT_MAP:
        return tensor && it->c >= 1 && it->c <= MAP_RANK_MAX && (it->b & 0xff) <= 3;
    case WISDOM_LAUNCH:
        return it->b < of->kernel_count;
    default:
        return it->op < WISDOM_OP_COUNT;
    }
}

/* How a walk over the instructions of a program stands. */
struct walk {
    int depth, arguments, reached;
    uint8_t phase;
    int32_t furthest; /* target of the jumps so far */
    int32_t rounds;   /* the WISDOM_ROUNDS that is open, or -1 */
    int rounds_depth, rounds_arguments;
    int16_t *depths, *counts; /* at the targets of jumps; -1: of none yet */
};

static int note_target(struct walk *walk, int32_t target) {
    if (walk->depths[target] >= 0 &&
        (walk->depths[target] != walk->depth || walk->counts[target] != walk->arguments))
        return 0;
    walk->depths[target] = (int16_t)walk->depth;
    walk->counts[target] = (int16_t)walk->arguments;
    if (target > walk->furthest)
        walk->furthest = target;
    return 1;
}

/* Loops do not nest, and every way into one leads through its WISDOM_ROUNDS. */
static int walk_loop(struct walk *walk, const struct wisdom_instruction *all, int32_t pc) {
    const struct wisdom_instruction *it = &all[pc];
    if (it->op == WISDOM_ROUNDS) {
        if (walk->rounds >= 0 || walk->furthest > pc || !note_target(walk, it->c))
            return 0;
        walk->rounds = pc;
        walk->rounds_depth = walk->depth;
        walk->rounds_arguments = walk->arguments;
        walk->furthest = pc;
        return 1;
    }
    if (walk->rounds < 0 || it->c != walk->rounds + 1 || all[walk->rounds].b != it->b ||
        all[walk->rounds].c != pc + 1 || walk->depth != walk->rounds_depth ||
        walk->arguments != walk->rounds_arguments || walk->furthest > pc)
        return 0;
    walk->rounds = -1;
    return 1;
}

static int walk_phase(struct walk *walk, int32_t pc) {
    if (walk->furthest > pc || walk->depth != 0 || walk->arguments != 0)
        return 0;
    walk->phase = (uint8_t)(walk->phase << 1);
    return 1;
}

/* Returns whether the instruction may stand here, and goes on behind it. */
static int walk_one(struct walk *walk, const struct machine *machine, int32_t pc) {
    const struct wisdom_instruction *it = &machine->instructions[pc];
    if (it->op >= WISDOM_OP_COUNT || !(effects[it->op].phases & walk->phase) ||
        !names_exist(machine, it, pc) || walk->depth < needs_of(it))
        return 0;
    walk->depth += effects[it->op].pushes - needs_of(it);
    if (walk->depth > WISDOM_STACK_MAX)
        return 0;
    walk->arguments += it->op >= WISDOM_ARGUMENT_POINTER && it->op <= WISDOM_ARGUMENT_NO_MAP;
    if (walk->arguments > WISDOM_ARGUMENTS_MAX)
        return 0;
    if (it->op == WISDOM_LAUNCH) {
        if (walk->arguments != it->a)
            return 0;
        walk->arguments = 0;
    }
    walk->reached = it->op != WISDOM_JUMP && it->op != WISDOM_END;
    if (it->op == WISDOM_JUMP || it->op == WISDOM_JUMP_IF_ZERO)
        return note_target(walk, it->c);
    if (it->op == WISDOM_ROUNDS || it->op == WISDOM_NEXT)
        return walk_loop(walk, machine->instructions, pc);
    if (it->op == WISDOM_ADMITTED || it->op == WISDOM_SIZED)
        return walk_phase(walk, pc);
    return 1;
}

/* Whether the program ends, and reads and writes only its own slots, stack and arguments. It has
   all phases, or, of a template, the first one alone. */
static int program_holds(const struct machine *machine, int of_template) {
    const int32_t count = (int32_t)machine->program->instruction_count;
    struct walk walk = {.reached = 1, .phase = 1, .rounds = -1, .furthest = -1};
    walk.depths = malloc(2 * (size_t)count * sizeof *walk.depths);
    if (walk.depths == NULL)
        return 0;
    walk.counts = walk.depths + count;
    memset(walk.depths, 0xff, 2 * (size_t)count * sizeof *walk.depths);
    int32_t pc = 0;
    for (int holds = 1; holds && pc < count; pc += holds) {
        if (walk.depths[pc] >= 0) {
            holds = !walk.reached ||
                    (walk.depths[pc] == walk.depth && walk.counts[pc] == walk.arguments);
            walk.depth = walk.depths[pc];
            walk.arguments = walk.counts[pc];
            walk.reached = 1;
        }
        const int wide = machine->instructions[pc].op == WISDOM_PUSH_WIDE;
        holds = holds && walk.reached && walk_one(&walk, machine, pc);
        if (wide && holds)
            holds = ++pc < count && walk.depths[pc] < 0;
        if (!holds)
            break;
    }
    free(walk.depths);
    return pc == count && !walk.reached && walk.phase == (of_template ? 1 : 4);
}

static uint64_t padded(uint64_t bytes, uint64_t to) {
    return (bytes + to - 1) / to * to;
}

/* Finds the parts of a code and checks them. Returns 1, or 0: it does not hold. */
static int read_machine(struct machine *machine, const struct evotile_wisdom *wisdom,
                        uint32_t index, int of_template) {
    const struct wisdom_code *code = &wisdom->codes[index];
    const struct wisdom_program *program = program_of(wisdom, index);
    const uint64_t size = code->bytes - program->cubin_bytes;
    uint8_t found[WISDOM_DIGEST_BYTES];
    digest((const uint8_t *)program, size, NULL, 0, found);
    if (memcmp(found, code->digest, sizeof found) != 0 ||
        program->dimension_count > EVOTILE_WISDOM_DIMENSIONS_MAX ||
        program->tensor_count > EVOTILE_WISDOM_TENSORS_MAX ||
        program->scalar_count > WISDOM_SCALARS_MAX || program->kernel_count > WISDOM_KERNELS_MAX ||
        program->slot_count > WISDOM_SLOTS_MAX || program->slot_count < program->dimension_count ||
        program->instruction_count == 0 || program->instruction_count > INT16_MAX)
        return 0;
    const uint64_t names = program->dimension_count + program->tensor_count +
                           program->scalar_count + program->kernel_count;
    const uint64_t instructions = padded(sizeof *program + names * sizeof(uint32_t), 8);
    const uint64_t text =
        instructions + program->instruction_count * sizeof(struct wisdom_instruction);
    const uint8_t *bytes = (const uint8_t *)program;
    if (program->text_bytes == 0 || padded(text + program->text_bytes, 16) != size ||
        bytes[text + program->text_bytes - 1] != '\0')
        return 0;
    *machine = (struct machine){.program = program,
                                .names = (const uint32_t *)(program + 1),
                                .instructions = (const void *)(bytes + instructions),
                                .text = (const char *)bytes + text,
                                .code = index};
    for (uint64_t i = 0; i < names; i++)
        if (machine->names[i] >= program->text_bytes)
            return 0;
    for (uint32_t i = 0; i < program->scalar_count; i++)
        if (program->scalar_bytes[i] != 4 && program->scalar_bytes[i] != 8)
            return 0;
    return program_holds(machine, of_template);
}

static const char *name_at(const struct machine *machine, uint32_t index) {
    return machine->text + machine->names[index];
}

/* ---- their execution ---- */

enum stop { AT_ADMITTED, AT_SIZED, AT_END };

union argument {
    const void *pointer;
    int32_t i32;
    uint32_t bits;
    double f64;
    int64_t i64;
    CUtensorMap map;
};

struct run {
    const struct evotile_wisdom_kernel *kernel;
    struct machine *machine;
    const struct evotile_wisdom_call *call; /* NULL before it is launched */
    enum stop stop;
    uint32_t named; /* with a template's program: a bit for each dimension that the caller named */
    int64_t used, offsets[EVOTILE_WISDOM_TENSORS_MAX], bytes[EVOTILE_WISDOM_TENSORS_MAX];
    const char *why; /* of NO_KERNEL */
    int64_t rounds, round;
    const void *window;
    int64_t window_bytes, window_percent;
    int argument_count;
    union argument arguments[WISDOM_ARGUMENTS_MAX];
    int64_t slots[WISDOM_SLOTS_MAX];
};

static int launch_kernel(struct run *run, const struct wisdom_instruction *it, const int64_t *top);
static int encode_map(struct run *run, const struct wisdom_instruction *it, const int64_t *top);
static int clear_part(struct run *run, int tensor);
static int copy_to_variable(struct run *run, int tensor, const char *name, int64_t bytes);

static void *address_of(const struct run *run, int tensor) {
    if (run->machine->program->roles[tensor] == WISDOM_WORKSPACE)
        return run->bytes[tensor] > 0 ? (char *)run->call->workspace + run->offsets[tensor] : NULL;
    const int from = run->kernel->tensor_from[tensor];
    return from >= 0 ? run->call->tensors[from] : NULL;
}

/* The caller's strides of a tensor; NULL: it is packed. */
static const int64_t *strides_of(const struct run *run, int tensor) {
    const int from = run->kernel->tensor_from[tensor];
    return run->call != NULL && run->call->strides != NULL && from >= 0 ? run->call->strides[from]
                                                                        : NULL;
}

static int check_address(const struct run *run, int tensor, int32_t alignment) {
    const void *address = address_of(run, tensor);
    if (address == NULL)
        return EVOTILE_WISDOM_NO_ARGUMENT;
    return (uintptr_t)address % (uintptr_t)alignment != 0 ? EVOTILE_WISDOM_MISALIGNED : 0;
}

static int check_strides(const struct run *run, const struct wisdom_instruction *it,
                         int64_t element_bytes) {
    const int64_t *strides = strides_of(run, it->a);
    for (int i = 0; strides != NULL && i < it->b; i++)
        if (strides[i] < 0 || strides[i] >= INT64_C(1) << 40 ||
            strides[i] * element_bytes % it->c != 0)
            return EVOTILE_WISDOM_MISALIGNED;
    return 0;
}

static int take_part(struct run *run, int tensor, int64_t bytes) {
    if (bytes < 0 || bytes > INT64_C(1) << 44)
        return EVOTILE_WISDOM_NO_KERNEL;
    run->offsets[tensor] = run->used;
    run->bytes[tensor] = bytes;
    run->used += (int64_t)padded((uint64_t)bytes, WISDOM_PARTS_ALIGNMENT);
    return 0;
}

static int check_workspace(const struct run *run) {
    if (run->used == 0)
        return 0;
    if (run->call->workspace == NULL || run->call->workspace_bytes < run->used)
        return EVOTILE_WISDOM_NO_ARGUMENT;
    return (uintptr_t)run->call->workspace % WISDOM_PARTS_ALIGNMENT != 0 ? EVOTILE_WISDOM_MISALIGNED
                                                                         : 0;
}

static int fitting_product(const int64_t *extents, int count, int64_t *product) {
    *product = 1;
    for (int i = 0; i < count; i++) {
        if (extents[i] < 1 || __builtin_mul_overflow(*product, extents[i], product) ||
            *product > INT64_C(1) << 40)
            return 0;
    }
    return 1;
}

static float real_of(int64_t bits) {
    const uint32_t low = (uint32_t)bits;
    float real;
    memcpy(&real, &low, sizeof real);
    return real;
}

/* Returns whether the number is there. */
static int divide(enum wisdom_op op, int64_t a, int64_t b, int64_t *result) {
    if (b == 0 || (a == INT64_MIN && b == -1))
        return 0;
    *result = op == WISDOM_REMAINDER ? a % b : a / b;
    if (op == WISDOM_CEIL_DIV && a % b != 0 && (a < 0) == (b < 0))
        ++*result;
    return 1;
}

static int compute(enum wisdom_op op, int64_t a, int64_t b, int64_t *result) {
    switch (op) {
    case WISDOM_ADD:
        return !__builtin_add_overflow(a, b, result);
    case WISDOM_SUBTRACT:
        return !__builtin_sub_overflow(a, b, result);
    case WISDOM_MULTIPLY:
        return !__builtin_mul_overflow(a, b, result);
    case WISDOM_DIVIDE:
    case WISDOM_REMAINDER:
    case WISDOM_CEIL_DIV:
        return divide(op, a, b, result);
    case WISDOM_MIN:
        *result = a < b ? a : b;
        return 1;
    case WISDOM_MAX:
        *result = a > b ? a : b;
        return 1;
    case WISDOM_EQUAL:
        *result = a == b;
        return 1;
    case WISDOM_NOT_EQUAL:
        *result = a != b;
        return 1;
    case WISDOM_LESS:
        *result = a < b;
        return 1;
    case WISDOM_LESS_EQUAL:
        *result = a <= b;
        return 1;
    case WISDOM_GREATER:
        *result = a > b;
        return 1;
    default: /* WISDOM_GREATER_EQUAL */
        *result = a >= b;
        return 1;
    }
}

static int add_argument(struct run *run, const struct wisdom_instruction *it, int64_t top) {
    union argument *to = &run->arguments[run->argument_count++];
    switch ((enum wisdom_op)it->op) {
    case WISDOM_ARGUMENT_POINTER:
        to->pointer = address_of(run, it->a);
        return 0;
    case WISDOM_ARGUMENT_NULL:
        to->pointer = NULL;
        return 0;
    case WISDOM_ARGUMENT_I32:
        to->i32 = (int32_t)top;
        return top == (int32_t)top ? 0 : EVOTILE_WISDOM_NO_KERNEL;
    case WISDOM_ARGUMENT_I64:
        to->i64 = top;
        return 0;
    case WISDOM_ARGUMENT_F32:
        to->bits = (uint32_t)top;
        return 0;
    case WISDOM_ARGUMENT_F64:
        to->f64 = (double)real_of(top);
        return 0;
    case WISDOM_ARGUMENT_NO_MAP:
        memset(&to->map, 0, sizeof to->map);
        return 0;
    default: { /* WISDOM_ARGUMENT_SCALAR */
        const int from = run->kernel->scalar_from[it->a];
        if (from < 0 || run->call->scalars == NULL || run->call->scalars[from] == NULL)
            return EVOTILE_WISDOM_NO_ARGUMENT;
        memcpy(to, run->call->scalars[from], run->machine->program->scalar_bytes[it->a]);
        return 0;
    }
    }
}

/* What is no arithmetic. `top` is behind the last number of the stack. */
static int act(struct run *run, const struct wisdom_instruction *it, int64_t *top) {
    switch ((enum wisdom_op)it->op) {
    case WISDOM_DEFAULT:
        if (!(run->named >> it->b & 1))
            run->slots[it->b] = top[-1];
        return 0;
    case WISDOM_REQUIRE:
        run->why = run->machine->text + it->c;
        return top[-1] != 0 ? 0 : EVOTILE_WISDOM_NO_KERNEL;
    case WISDOM_REAL_RANGE: {
        const float value = real_of(run->slots[it->b]);
        return value >= real_of(top[-2]) && value <= real_of(top[-1]) ? 0
                                                                      : EVOTILE_WISDOM_NO_KERNEL;
    }
    case WISDOM_PART:
        return take_part(run, it->a, top[-1]);
    case WISDOM_CHECK:
        return check_address(run, it->a, it->c);
    case WISDOM_CHECK_STRIDES:
        return check_strides(run, it, top[-1]);
    case WISDOM_CLEAR:
        return clear_part(run, it->a);
    case WISDOM_COPY:
        return copy_to_variable(run, it->a, run->machine->text + it->c, top[-1]);
    case WISDOM_ARGUMENT_MAP:
        return encode_map(run, it, top);
    case WISDOM_WINDOW:
        if (top[-1] > 0) {
            run->window = address_of(run, it->a);
            run->window_bytes = top[-2];
            run->window_percent = top[-1];
        }
        return 0;
    case WISDOM_LAUNCH:
        return launch_kernel(run, it, top);
    default:
        return add_argument(run, it, top[-1]);
    }
}

/* Runs a program that holds until it stops, in slots that have the dimensions. */
static int execute(struct run *run) {
    const struct wisdom_instruction *all = run->machine->instructions, *it = all;
    int64_t numbers[WISDOM_STACK_MAX + 1], *top = numbers + 1;
    numbers[0] = 0;
    for (;; it++) {
        switch ((enum wisdom_op)it->op) {
        case WISDOM_END:
            return 0;
        case WISDOM_PUSH:
            *top++ = it->c;
            break;
        case WISDOM_PUSH_WIDE:
            memcpy(top++, ++it, sizeof *it);
            break;
        case WISDOM_LOAD:
            *top++ = run->slots[it->b];
            break;
        case WISDOM_STORE:
            run->slots[it->b] = *--top;
            break;
        case WISDOM_DROP:
            top--;
            break;
        case WISDOM_NEGATE:
            if (__builtin_sub_overflow(INT64_C(0), top[-1], &top[-1]))
                return EVOTILE_WISDOM_NO_KERNEL;
            break;
        case WISDOM_NOT:
            top[-1] = top[-1] == 0;
            break;
        case WISDOM_TRUTH:
            top[-1] = top[-1] != 0;
            break;
        case WISDOM_LOG2:
            if (top[-1] <= 0)
                return EVOTILE_WISDOM_NO_KERNEL;
            top[-1] = 63 - __builtin_clzll((unsigned long long)top[-1]);
            break;
        case WISDOM_JUMP:
            it = &all[it->c - 1];
            break;
        case WISDOM_JUMP_IF_ZERO:
            if (*--top == 0)
                it = &all[it->c - 1];
            break;
        case WISDOM_FITS: {
            int64_t product;
            if (!fitting_product(top - it->a, it->a, &product))
                return EVOTILE_WISDOM_NO_KERNEL;
            top -= it->a;
            *top++ = product;
            break;
        }
        case WISDOM_STRIDE: {
            const int64_t *given = strides_of(run, it->a);
            if (given != NULL)
                top[-1] = given[it->b];
            break;
        }
        case WISDOM_ADMITTED:
            if (run->stop == AT_ADMITTED)
                return 0;
            break;
        case WISDOM_SIZED: {
            const int status = run->stop == AT_SIZED ? 1 : check_workspace(run);
            if (status != 0)
                return status > 0 ? 0 : status;
            break;
        }
        case WISDOM_ROUNDS:
            run->rounds = *--top;
            run->round = 0;
            run->slots[it->b] = run->rounds;
            run->slots[it->b + 1] = 0;
            if (run->rounds < 0 || run->rounds > WISDOM_ROUNDS_MAX)
                return EVOTILE_WISDOM_NO_KERNEL;
            if (run->rounds == 0)
                it = &all[it->c - 1];
            break;
        case WISDOM_NEXT:
            run->slots[it->b + 1] = ++run->round;
            if (run->round < run->rounds)
                it = &all[it->c - 1];
            break;
        default:
            if (it->op <= WISDOM_GREATER_EQUAL) {
                top--;
                if (!compute((enum wisdom_op)it->op, top[-1], top[0], &top[-1]))
                    return EVOTILE_WISDOM_NO_KERNEL;
                break;
            }
            const int status = act(run, it, top);
            if (status != 0)
                return status;
            top -= needs_of(it);
        }
    }
}

/* ---- a template on a device ---- */

static int runs_on(const struct wisdom_code *code, const struct evotile_wisdom_device *device) {
    return code->major == device->major &&
           (code->exact ? code->minor == device->minor : code->minor <= device->minor);
}

static struct evotile_wisdom_device device_of(const struct evotile_wisdom *wisdom,
                                              const struct wisdom_group *group) {
    const struct wisdom_device *from = &wisdom->devices[group->device];
    struct evotile_wisdom_device device = {
        .major = from->major, .minor = from->minor, .sm_count = from->sm_count};
    snprintf(device.name, sizeof device.name, "%s", wisdom->text + from->name);
    return device;
}

/* How unlike the device the group's is: 0 for one of its model; INFINITY where none of its kernels
   runs. The same architecture counts most, then the number of multiprocessors, then the name. */
static double device_distance(const struct evotile_wisdom *wisdom, const struct wisdom_group *group,
                              const struct evotile_wisdom_device *device) {
    const struct evotile_wisdom_device of = device_of(wisdom, group);
    int runs = 0;
    for (uint32_t i = 0; i < group->entry_count && !runs; i++)
        runs = runs_on(&wisdom->codes[wisdom->entries[group->first_entry + i].code], device);
    if (!runs)
        return INFINITY;
    return 1000 * fabs((double)device->major - of.major) +
           100 * fabs((double)device->minor - of.minor) +
           fabs(log2((double)(device->sm_count > 0 ? device->sm_count : 1) / of.sm_count)) +
           (strcmp(of.name, device->name) != 0 ? 0.001 : 0);
}

static int find_group(struct evotile_wisdom_kernel *kernel, const char *name,
                      const struct evotile_wisdom_device *device,
                      struct evotile_wisdom_message *message) {
    const struct evotile_wisdom *wisdom = kernel->wisdom;
    double best = INFINITY;
    int known = 0;
    for (uint64_t i = 0; i < count_of(wisdom, WISDOM_GROUPS); i++) {
        const struct wisdom_group *group = &wisdom->groups[i];
        if (strcmp(wisdom->text + wisdom->templates[group->template_index].name, name) != 0)
            continue;
        const double distance = device_distance(wisdom, group, device);
        known = 1;
        if (distance < best) {
            best = distance;
            kernel->group = group;
        }
    }
    if (!known)
        return refuse(
            message, EVOTILE_WISDOM_NO_TEMPLATE,
            "%s has no kernels of %s: tune it, `evotile wisdom add` the run, and pack again",
            wisdom->path, name);
    if (kernel->group == NULL)
        return refuse(message, EVOTILE_WISDOM_NO_DEVICE,
                      "%s has no kernel of %s that runs on %s (sm_%d%d): tune it there, `evotile "
                      "wisdom add` the run, and pack again",
                      wisdom->path, name, device->name, device->major, device->minor);
    kernel->tuned_on = device_of(wisdom, kernel->group);
    kernel->same_model = best == 0;
    if (best > 0)
        refuse(message, 0, "%s was not tuned on %s (%d SMs): these are the kernels of %s (%d SMs)",
               name, device->name, device->sm_count, kernel->tuned_on.name,
               kernel->tuned_on.sm_count);
    return 0;
}

/* Fills where each of the template's names is in the caller's list. A name that the template has
   not is an error that lists those that it has. */
static int match_names(struct evotile_wisdom_kernel *kernel, const char *what,
                       const char *const *given, uint32_t first, uint32_t count, int *from,
                       struct evotile_wisdom_message *message) {
    for (uint32_t i = 0; i < count; i++)
        from[i] = -1;
    for (int g = 0; given != NULL && given[g] != NULL; g++) {
        uint32_t i = 0;
        while (i < count && strcmp(name_at(&kernel->defaults, first + i), given[g]) != 0)
            i++;
        if (i < count && from[i] < 0) {
            from[i] = g;
            continue;
        }
        char names[256] = "";
        for (uint32_t n = 0, used = 0; n < count && used < sizeof names; n++)
            used += (uint32_t)snprintf(names + used, sizeof names - used, "%s%s", n > 0 ? ", " : "",
                                       name_at(&kernel->defaults, first + n));
        return refuse(message, EVOTILE_WISDOM_NO_TEMPLATE, "%s has %s %s %s: name those of %s",
                      kernel->name, i < count ? "only one" : "no", what, given[g],
                      count > 0 ? names : "another template");
    }
    return 0;
}

static int match_all(struct evotile_wisdom_kernel *kernel, const struct evotile_wisdom_names *names,
                     struct evotile_wisdom_message *message) {
    const struct wisdom_program *of = kernel->defaults.program;
    const uint32_t tensors = of->dimension_count, scalars = tensors + of->tensor_count;
    int status = match_names(kernel, "dimension", names->dimensions, 0, of->dimension_count,
                             kernel->dimension_from, message);
    if (status == 0)
        status = match_names(kernel, "tensor", names->tensors, tensors, of->tensor_count,
                             kernel->tensor_from, message);
    if (status == 0)
        status = match_names(kernel, "scalar", names->scalars, scalars, of->scalar_count,
                             kernel->scalar_from, message);
    kernel->all_dimensions = 1;
    for (uint32_t d = 0; d < of->dimension_count; d++) {
        kernel->all_dimensions &= kernel->dimension_from[d] >= 0;
        kernel->given_count += kernel->dimension_from[d] >= 0;
    }
    for (uint32_t i = 0; i < of->instruction_count && status == 0; i++) {
        const struct wisdom_instruction *it = &kernel->defaults.instructions[i];
        i += it->op == WISDOM_PUSH_WIDE;
        if (it->op == WISDOM_REAL_RANGE)
            kernel->real[it->b] = 1;
        if (it->op == WISDOM_DEFAULT && it->a == 1 && kernel->dimension_from[it->b] < 0)
            status = refuse(message, EVOTILE_WISDOM_NO_TEMPLATE,
                            "%s needs the dimension %s, which has no default: name it",
                            kernel->name, name_at(&kernel->defaults, it->b));
    }
    return status;
}

static const char *scalar_name(const struct machine *machine, uint32_t index) {
    const struct wisdom_program *of = machine->program;
    return name_at(machine, of->dimension_count + of->tensor_count + index);
}

/* Whether a code is of the template: its names are the same, but for workspaces and kernels. */
static int same_interface(const struct machine *code, const struct machine *defaults) {
    const struct wisdom_program *p = code->program, *q = defaults->program;
    if (p->dimension_count != q->dimension_count || p->tensor_count < q->tensor_count ||
        p->scalar_count != q->scalar_count ||
        memcmp(p->scalar_bytes, q->scalar_bytes, sizeof p->scalar_bytes) != 0)
        return 0;
    for (uint32_t i = 0; i < p->dimension_count + q->tensor_count; i++)
        if (strcmp(name_at(code, i), name_at(defaults, i)) != 0)
            return 0;
    for (uint32_t i = 0; i < p->scalar_count; i++)
        if (strcmp(scalar_name(code, i), scalar_name(defaults, i)) != 0)
            return 0;
    for (uint32_t t = 0; t < p->tensor_count; t++)
        if (p->roles[t] != (t < q->tensor_count ? WISDOM_GIVEN : WISDOM_WORKSPACE))
            return 0;
    return 1;
}

/* Reads each code of the group once. */
static int read_machines(struct evotile_wisdom_kernel *kernel,
                         const struct evotile_wisdom_device *device,
                         struct evotile_wisdom_message *message) {
    const struct evotile_wisdom *wisdom = kernel->wisdom;
    const uint32_t count = kernel->group->entry_count;
    uint32_t *machine_of_code = malloc(count_of(wisdom, WISDOM_CODES) * sizeof *machine_of_code);
    kernel->machines = calloc(count, sizeof *kernel->machines);
    kernel->machine_of = calloc(count, sizeof *kernel->machine_of);
    int status = machine_of_code != NULL && kernel->machines != NULL && kernel->machine_of != NULL
                     ? 0
                     : refuse(message, EVOTILE_WISDOM_NO_MEMORY, "out of memory");
    if (status == 0)
        memset(machine_of_code, 0xff, count_of(wisdom, WISDOM_CODES) * sizeof *machine_of_code);
    for (uint32_t i = 0; i < count && status == 0; i++) {
        const uint32_t code = wisdom->entries[kernel->group->first_entry + i].code;
        if (machine_of_code[code] == UINT32_MAX) {
            struct machine *machine = &kernel->machines[kernel->machine_count];
            if (!read_machine(machine, wisdom, code, 0) ||
                !same_interface(machine, &kernel->defaults)) {
                status = damaged(wisdom, message, "a launch program does not hold");
                break;
            }
            machine->runs = runs_on(&wisdom->codes[code], device);
            machine->kernels =
                calloc(machine->program->kernel_count + 1u, sizeof *machine->kernels);
            machine_of_code[code] = kernel->machine_count++;
            if (machine->kernels == NULL)
                status = refuse(message, EVOTILE_WISDOM_NO_MEMORY, "out of memory");
        }
        kernel->machine_of[i] = machine_of_code[code];
    }
    free(machine_of_code);
    return status;
}

static const int64_t *shape_of(const struct evotile_wisdom_kernel *kernel, uint32_t entry) {
    return kernel->values + (size_t)entry * 3 * kernel->dimension_count;
}

/* For the distance of shapes. */
static double logarithm(const struct evotile_wisdom_kernel *kernel, uint32_t d, int64_t value) {
    return log2(1 + fabs(kernel->real[d] ? (double)real_of(value) : (double)value));
}

static uint32_t hash_shape(const int64_t *shape, uint32_t count) {
    uint64_t hash = 0;
    for (uint32_t d = 0; d < count; d++)
        hash = (hash ^ (uint64_t)shape[d]) * UINT64_C(0x9e3779b97f4a7c15), hash ^= hash >> 29;
    return (uint32_t)(hash >> 16);
}

/* Makes what a pick looks up: the entries by shape, and the logarithms of their shapes. */
static int index_shapes(struct evotile_wisdom_kernel *kernel,
                        struct evotile_wisdom_message *message) {
    const uint32_t count = kernel->group->entry_count, dimensions = kernel->dimension_count;
    uint32_t size = 2;
    while (size < 2 * (uint64_t)count && size < UINT32_C(1) << 31)
        size *= 2;
    kernel->table_mask = size - 1;
    kernel->table = malloc(size * sizeof *kernel->table);
    kernel->logarithms = malloc(((size_t)count * dimensions + 1) * sizeof *kernel->logarithms);
    kernel->kept = calloc(KEPT_PICKS, sizeof *kernel->kept);
    if (kernel->table == NULL || kernel->logarithms == NULL || kernel->kept == NULL)
        return refuse(message, EVOTILE_WISDOM_NO_MEMORY, "out of memory");
    memset(kernel->table, 0xff, size * sizeof *kernel->table);
    for (uint32_t i = 0; i < count; i++) {
        const int64_t *shape = shape_of(kernel, i);
        uint32_t slot = hash_shape(shape, dimensions) & kernel->table_mask;
        while (kernel->table[slot] != UINT32_MAX)
            slot = (slot + 1) & kernel->table_mask;
        kernel->table[slot] = i;
        for (uint32_t d = 0; d < dimensions; d++)
            kernel->logarithms[(size_t)i * dimensions + d] = logarithm(kernel, d, shape[d]);
    }
    return 0;
}

int evotile_wisdom_open(struct evotile_wisdom_kernel **kernel, const struct evotile_wisdom *wisdom,
                        const struct evotile_wisdom_names *names,
                        const struct evotile_wisdom_device *device,
                        struct evotile_wisdom_message *message) {
    struct evotile_wisdom_kernel *opened = calloc(1, sizeof *opened);
    *kernel = NULL;
    refuse(message, 0, "%s", "");
    if (opened == NULL)
        return refuse(message, EVOTILE_WISDOM_NO_MEMORY, "out of memory");
    opened->wisdom = wisdom;
    pthread_mutex_init(&opened->loading, NULL);
    snprintf(opened->name, sizeof opened->name, "%s", names->template_name);
    int status = find_group(opened, names->template_name, device, message);
    if (status == 0 && !read_machine(&opened->defaults, wisdom,
                                     wisdom->templates[opened->group->template_index].code, 1))
        status = damaged(wisdom, message, "a template's program does not hold");
    if (status == 0) {
        opened->dimension_count = opened->defaults.program->dimension_count;
        opened->values = wisdom->values + opened->group->first_value;
        status = match_all(opened, names, message);
    }
    if (status == 0)
        status = read_machines(opened, device, message);
    if (status == 0)
        status = index_shapes(opened, message);
    if (status == 0)
        *kernel = opened;
    else
        evotile_wisdom_close(opened);
    return status;
}

const struct evotile_wisdom_device *
evotile_wisdom_tuned_on(const struct evotile_wisdom_kernel *kernel, int *same_model) {
    if (same_model != NULL)
        *same_model = kernel->same_model;
    return &kernel->tuned_on;
}

/* ---- picking ---- */

/* Runs a program to a stop before any launch; `shape` may be changed by that of the template. */
static int execute_before(const struct evotile_wisdom_kernel *kernel, const struct machine *machine,
                          enum stop stop, uint32_t named, int64_t *shape, int64_t *used) {
    struct run run;
    run.kernel = kernel;
    run.machine = (struct machine *)machine;
    run.call = NULL;
    run.stop = stop;
    run.named = named;
    run.used = 0;
    memcpy(run.slots, shape, kernel->dimension_count * sizeof *shape);
    memset(run.slots + kernel->dimension_count, 0,
           (machine->program->slot_count - kernel->dimension_count) * sizeof *run.slots);
    const int status = execute(&run);
    memcpy(shape, run.slots, kernel->dimension_count * sizeof *shape);
    *used = run.used;
    return status;
}

/* The entry of exactly this shape whose code runs here, or UINT32_MAX. */
static uint32_t find_exact(const struct evotile_wisdom_kernel *kernel, const int64_t *shape) {
    const uint32_t dimensions = kernel->dimension_count;
    uint32_t slot = hash_shape(shape, dimensions) & kernel->table_mask;
    for (; kernel->table[slot] != UINT32_MAX; slot = (slot + 1) & kernel->table_mask) {
        const int64_t *of = shape_of(kernel, kernel->table[slot]);
        if (memcmp(of, shape, dimensions * sizeof *shape) == 0)
            return kernel->machines[kernel->machine_of[kernel->table[slot]]].runs
                       ? kernel->table[slot]
                       : UINT32_MAX;
    }
    return UINT32_MAX;
}

static int is_verified(const struct evotile_wisdom_kernel *kernel, uint32_t entry,
                       const int64_t *shape) {
    const int64_t *least = shape_of(kernel, entry) + kernel->dimension_count,
                  *most = least + kernel->dimension_count;
    for (uint32_t d = 0; d < kernel->dimension_count; d++)
        if (shape[d] < least[d] || shape[d] > most[d])
            return 0;
    return 1;
}

static int admits(const struct evotile_wisdom_kernel *kernel, uint32_t entry, int64_t *shape) {
    const struct machine *machine = &kernel->machines[kernel->machine_of[entry]];
    int64_t used;
    return machine->runs && execute_before(kernel, machine, AT_ADMITTED, 0, shape, &used) == 0;
}

/* The leaf for a shape; NULL: there is no tree. */
static const struct wisdom_node *walk_tree(const struct evotile_wisdom_kernel *kernel,
                                           const int64_t *shape) {
    const struct wisdom_node *nodes = kernel->wisdom->nodes + kernel->group->first_node,
                             *at = nodes;
    if (kernel->group->node_count == 0)
        return NULL;
    while (!is_leaf(at)) {
        int64_t product = 1;
        for (int f = 0; f < 3; f++)
            if (at->factors[f] >= 0) {
                const int64_t factor = shape[at->factors[f]];
                if (__builtin_mul_overflow(product, factor, &product))
                    product = (product < 0) != (factor < 0) ? INT64_MIN : INT64_MAX;
            }
        at = &nodes[product <= at->at_most ? at->then : at->otherwise];
    }
    return at;
}

/* The entry of the nearest shape that admits this one, and has verified it unless `unverified`. */
static uint32_t find_nearest(const struct evotile_wisdom_kernel *kernel, int64_t *shape,
                             int unverified) {
    const uint32_t dimensions = kernel->dimension_count;
    double logarithms[EVOTILE_WISDOM_DIMENSIONS_MAX], best_distance = INFINITY;
    uint32_t best = UINT32_MAX;
    for (uint32_t d = 0; d < dimensions; d++)
        logarithms[d] = logarithm(kernel, d, shape[d]);
    for (uint32_t i = 0; i < kernel->group->entry_count; i++) {
        const double *of = kernel->logarithms + (size_t)i * dimensions;
        double distance = 0;
        for (uint32_t d = 0; d < dimensions; d++)
            distance += fabs(logarithms[d] - of[d]);
        if (distance < best_distance && (unverified || is_verified(kernel, i, shape)) &&
            admits(kernel, i, shape)) {
            best = i;
            best_distance = distance;
        }
    }
    return best;
}

static int choose(struct evotile_wisdom_choice *choice, uint32_t entry,
                  enum evotile_wisdom_how how) {
    const struct evotile_wisdom_kernel *kernel = choice->kernel;
    const struct wisdom_entry *of = &kernel->wisdom->entries[kernel->group->first_entry + entry];
    choice->entry = entry;
    choice->how = how;
    choice->predicted = of->flags & WISDOM_PREDICTED;
    choice->p50_us = of->p50_us;
    return 0;
}

/* For a shape that no kernel was tuned for. */
static int pick_between(struct evotile_wisdom_choice *choice, unsigned flags) {
    const struct evotile_wisdom_kernel *kernel = choice->kernel;
    const struct wisdom_node *leaf = walk_tree(kernel, choice->shape);
    for (uint32_t i = 0; leaf != NULL && i < leaf->order_count; i++) {
        const uint32_t named = kernel->wisdom->orders[leaf->first_order + i];
        if (is_verified(kernel, named, choice->shape) && admits(kernel, named, choice->shape))
            return choose(choice, named, EVOTILE_WISDOM_TREE);
    }
    uint32_t entry = find_nearest(kernel, choice->shape, 0);
    if (entry != UINT32_MAX)
        return choose(choice, entry, EVOTILE_WISDOM_NEAREST);
    entry = find_nearest(kernel, choice->shape, 1);
    if (entry == UINT32_MAX)
        return EVOTILE_WISDOM_NO_KERNEL;
    return flags & EVOTILE_WISDOM_TAKE_UNVERIFIED ? choose(choice, entry, EVOTILE_WISDOM_NEAREST)
                                                  : EVOTILE_WISDOM_UNVERIFIED;
}

static int find_pick(struct evotile_wisdom_choice *choice, const int64_t *shape, unsigned flags) {
    const struct evotile_wisdom_kernel *kernel = choice->kernel;
    uint32_t named = 0;
    int64_t used;
    for (uint32_t d = 0; d < kernel->dimension_count; d++) {
        const int from = kernel->dimension_from[d];
        choice->shape[d] = from >= 0 ? shape[from] : 0;
        named |= (uint32_t)(from >= 0) << d;
    }
    const uint32_t exact = kernel->all_dimensions ? find_exact(kernel, choice->shape) : UINT32_MAX;
    if (exact != UINT32_MAX)
        return choose(choice, exact, EVOTILE_WISDOM_EXACT);
    const int status =
        execute_before(kernel, &kernel->defaults, AT_END, named, choice->shape, &used);
    if (status != 0)
        return status;
    const uint32_t now = kernel->all_dimensions ? UINT32_MAX : find_exact(kernel, choice->shape);
    return now != UINT32_MAX ? choose(choice, now, EVOTILE_WISDOM_EXACT)
                             : pick_between(choice, flags);
}

static uint32_t kept_place(const struct evotile_wisdom_kernel *kernel, const int64_t *shape,
                           uint32_t neighbour) {
    return (hash_shape(shape, kernel->given_count) + neighbour) % KEPT_PICKS;
}

static int is_of(const struct kept_pick *kept, const int64_t *shape, uint32_t given,
                 unsigned flags) {
    uint32_t d = 0;
    while (d < given && kept->values[d] == shape[d])
        d++;
    return d == given && kept->flags == flags;
}

/* NULL: it is not kept. */
static const struct kept_pick *find_kept(const struct evotile_wisdom_kernel *kernel,
                                         const int64_t *shape, unsigned flags) {
    for (uint32_t i = 0; i < KEPT_NEIGHBOURS; i++) {
        const struct kept_pick *kept =
            atomic_load_explicit(&kernel->kept[kept_place(kernel, shape, i)], memory_order_acquire);
        if (kept == NULL || is_of(kept, shape, kernel->given_count, flags))
            return kept;
    }
    return NULL;
}

/* Where its neighbours are taken, or memory is short, a pick is not kept. */
static void keep(const struct evotile_wisdom_choice *choice, const int64_t *shape, unsigned flags,
                 int status) {
    const struct evotile_wisdom_kernel *kernel = choice->kernel;
    const uint32_t given = kernel->given_count, dimensions = kernel->dimension_count;
    struct kept_pick *kept =
        malloc(sizeof *kept + (size_t)(given + dimensions) * sizeof *kept->values);
    if (kept == NULL)
        return;
    *kept = (struct kept_pick){.status = status,
                               .flags = flags,
                               .entry = choice->entry,
                               .how = choice->how,
                               .predicted = choice->predicted,
                               .p50_us = choice->p50_us};
    for (uint32_t d = 0; d < given; d++)
        kept->values[d] = shape[d];
    memcpy(kept->values + given, choice->shape, dimensions * sizeof *shape);
    for (uint32_t i = 0; i < KEPT_NEIGHBOURS; i++) {
        struct kept_pick *none = NULL;
        if (atomic_compare_exchange_strong(&kernel->kept[kept_place(kernel, shape, i)], &none,
                                           kept))
            return;
    }
    free(kept);
}

int evotile_wisdom_pick(const struct evotile_wisdom_kernel *kernel, const int64_t *shape,
                        unsigned flags, struct evotile_wisdom_choice *choice) {
    const struct kept_pick *kept = find_kept(kernel, shape, flags);
    choice->kernel = kernel;
    if (kept == NULL) {
        choice->entry = 0;
        choice->how = EVOTILE_WISDOM_NEAREST;
        choice->predicted = 0;
        choice->p50_us = 0;
        const int status = find_pick(choice, shape, flags);
        keep(choice, shape, flags, status);
        return status;
    }
    choice->entry = kept->entry;
    choice->how = kept->how;
    choice->predicted = kept->predicted;
    choice->p50_us = kept->p50_us;
    for (uint32_t d = 0; d < kernel->dimension_count; d++)
        choice->shape[d] = kept->values[kernel->given_count + d];
    return kept->status;
}

int evotile_wisdom_describe(const struct evotile_wisdom_choice *choice, char *text, size_t size) {
    const struct evotile_wisdom_kernel *kernel = choice->kernel;
    const struct wisdom_entry *of =
        &kernel->wisdom->entries[kernel->group->first_entry + choice->entry];
    char shape[512] = "";
    for (uint32_t d = 0, used = 0; d < kernel->dimension_count && used < sizeof shape; d++) {
        const int64_t value = shape_of(kernel, choice->entry)[d];
        char number[32];
        if (kernel->real[d])
            snprintf(number, sizeof number, "%g", (double)real_of(value));
        else
            snprintf(number, sizeof number, "%lld", (long long)value);
        used += (uint32_t)snprintf(shape + used, sizeof shape - used, "%s%s=%s", d > 0 ? "," : "",
                                   name_at(&kernel->defaults, d), number);
    }
    return snprintf(text, size, "%s of %s (%d SMs), tuned for %s: %.3f us%s, genome %s",
                    kernel->name, kernel->tuned_on.name, kernel->tuned_on.sm_count, shape,
                    choice->p50_us, choice->predicted ? " predicted" : "",
                    kernel->wisdom->text + of->genome);
}

int64_t evotile_wisdom_workspace(const struct evotile_wisdom_choice *choice) {
    const struct evotile_wisdom_kernel *kernel = choice->kernel;
    int64_t shape[EVOTILE_WISDOM_DIMENSIONS_MAX], used;
    memcpy(shape, choice->shape, sizeof shape);
    return execute_before(kernel, &kernel->machines[kernel->machine_of[choice->entry]], AT_SIZED, 0,
                          shape, &used) == 0
               ? used
               : 0;
}

/* ---- the CUDA driver ---- */

#define DRIVER_FUNCTIONS(F)                                                                        \
    F(cuCtxGetCurrent)                                                                             \
    F(cuCtxGetDevice)                                                                              \
    F(cuDeviceGetName)                                                                             \
    F(cuDeviceGetAttribute)                                                                        \
    F(cuLibraryLoadData)                                                                           \
    F(cuLibraryUnload)                                                                             \
    F(cuLibraryGetKernel)                                                                          \
    F(cuLibraryGetGlobal)                                                                          \
    F(cuKernelGetFunction)                                                                         \
    F(cuFuncSetAttribute)                                                                          \
    F(cuTensorMapEncodeTiled)                                                                      \
    F(cuLaunchKernelEx)                                                                            \
    F(cuMemsetD8Async)                                                                             \
    F(cuMemcpyDtoDAsync)                                                                           \
    F(cuThreadExchangeStreamCaptureMode)                                                           \
    F(cuGetErrorString)

struct driver {
#define DRIVER_MEMBER(name) __typeof__(name) *name;
    DRIVER_FUNCTIONS(DRIVER_MEMBER)
    int whole;
};

static struct driver driver;
static pthread_once_t driver_once = PTHREAD_ONCE_INIT;

/* The driver of the program, if it links one; a name may be a macro for its present version. */
static void find_driver(void) {
#define TEXT_OF(name)  #name
#define NAME_OF(macro) TEXT_OF(macro)
    void *library = dlsym(RTLD_DEFAULT, NAME_OF(cuLibraryLoadData)) != NULL
                        ? RTLD_DEFAULT
                        : dlopen("libcuda.so.1", RTLD_NOW);
    driver.whole = library != NULL || dlsym(RTLD_DEFAULT, NAME_OF(cuLibraryLoadData)) != NULL;
#define FIND_FUNCTION(name)                                                                        \
    driver.name = driver.whole ? (__typeof__(driver.name))dlsym(library, NAME_OF(name)) : NULL;    \
    driver.whole = driver.whole && driver.name != NULL;
    DRIVER_FUNCTIONS(FIND_FUNCTION)
}

static int open_driver(void) {
    CUcontext context = NULL;
    pthread_once(&driver_once, find_driver);
    return driver.whole && driver.cuCtxGetCurrent(&context) == CUDA_SUCCESS && context != NULL
               ? 0
               : EVOTILE_WISDOM_NO_DRIVER;
}

int evotile_wisdom_this_device(struct evotile_wisdom_device *device,
                               struct evotile_wisdom_message *message) {
    CUdevice number;
    refuse(message, 0, "%s", "");
    *device = (struct evotile_wisdom_device){0};
    if (open_driver() != 0)
        return refuse(message, EVOTILE_WISDOM_NO_DRIVER,
                      driver.whole ? "no CUDA context is current: call cudaSetDevice or "
                                     "cuCtxSetCurrent first"
                                   : "libcuda.so.1 of CUDA 12.0 or later is not here: install the "
                                     "NVIDIA driver");
    int status = (int)driver.cuCtxGetDevice(&number);
    if (status == 0)
        status = (int)driver.cuDeviceGetName(device->name, sizeof device->name, number);
    if (status == 0)
        status = (int)driver.cuDeviceGetAttribute(
            &device->major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, number);
    if (status == 0)
        status = (int)driver.cuDeviceGetAttribute(
            &device->minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, number);
    if (status == 0)
        status = (int)driver.cuDeviceGetAttribute(&device->sm_count,
                                                  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, number);
    return status == 0 ? 0
                       : refuse(message, status, "the CUDA driver failed: %s",
                                evotile_wisdom_status_text(status));
}

const char *evotile_wisdom_status_text(int status) {
    static const char *const texts[] = {
        "no error",
        "the wisdom file cannot be read, or is damaged",
        "the wisdom file has no such template",
        "no kernel of the template runs on this device",
        "no kernel takes this shape",
        "no kernel has verified this shape",
        "a tensor, a scalar or the workspace is missing or too small",
        "an address or a stride is misaligned",
        "there is no CUDA driver, or no current context",
        "out of memory",
    };
    const char *text = NULL;
    if (status <= 0)
        return -status < (int)(sizeof texts / sizeof *texts) ? texts[-status] : "unknown status";
    pthread_once(&driver_once, find_driver);
    if (driver.whole)
        driver.cuGetErrorString((CUresult)status, &text);
    return text != NULL ? text : "the CUDA driver failed";
}

/* ---- launching ---- */

/* The machine code must be what was packed. It is compared once, before the driver gets it. */
static int load_library(const struct run *run) {
    struct machine *machine = run->machine;
    const struct wisdom_program *program = machine->program;
    const uint8_t *cubin = (const uint8_t *)program +
                           run->kernel->wisdom->codes[machine->code].bytes - program->cubin_bytes;
    uint8_t found[WISDOM_DIGEST_BYTES];
    CUlibrary library;
    digest(cubin, program->cubin_bytes, NULL, 0, found);
    if (program->cubin_bytes == 0 || memcmp(found, program->cubin_digest, sizeof found) != 0)
        return EVOTILE_WISDOM_BAD_FILE;
    const int status = (int)driver.cuLibraryLoadData(&library, cubin, NULL, NULL, 0, NULL, NULL, 0);
    if (status == 0)
        atomic_store(&machine->library, library);
    return status;
}

/* Loads the machine code, and a kernel of it if `kernel` is not negative. Loading is no stream
   operation, so it is allowed during a stream capture if the thread's capture mode is relaxed. */
static int load(struct run *run, int kernel) {
    struct machine *machine = run->machine;
    pthread_mutex_t *loading = (pthread_mutex_t *)&run->kernel->loading;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    const uint32_t first = machine->program->dimension_count + machine->program->tensor_count +
                           machine->program->scalar_count;
    int status = (int)driver.cuThreadExchangeStreamCaptureMode(&mode);
    if (status != 0)
        return status;
    pthread_mutex_lock(loading);
    if (atomic_load(&machine->library) == NULL)
        status = load_library(run);
    if (status == 0 && kernel >= 0 && atomic_load(&machine->kernels[kernel]) == NULL) {
        CUkernel handle;
        status = (int)driver.cuLibraryGetKernel(&handle, atomic_load(&machine->library),
                                                name_at(machine, first + (uint32_t)kernel));
        if (status == 0)
            atomic_store(&machine->kernels[kernel], handle);
    }
    pthread_mutex_unlock(loading);
    driver.cuThreadExchangeStreamCaptureMode(&mode);
    return status;
}

static int clear_part(struct run *run, int tensor) {
    void *part = address_of(run, tensor);
    return part == NULL ? 0
                        : (int)driver.cuMemsetD8Async((CUdeviceptr)(uintptr_t)part, 0,
                                                      (size_t)run->bytes[tensor],
                                                      (CUstream)run->call->stream);
}

static int copy_to_variable(struct run *run, int tensor, const char *name, int64_t bytes) {
    CUdeviceptr address = 0;
    size_t size = 0;
    int status = load(run, -1);
    if (status == 0)
        status = (int)driver.cuLibraryGetGlobal(&address, &size,
                                                atomic_load(&run->machine->library), name);
    if (status != 0)
        return status;
    if (bytes < 0 || size < (size_t)bytes)
        return EVOTILE_WISDOM_NO_KERNEL;
    return (int)driver.cuMemcpyDtoDAsync(address, (CUdeviceptr)(uintptr_t)address_of(run, tensor),
                                         (size_t)bytes, (CUstream)run->call->stream);
}

/* The driver expects the innermost dimension first, and strides in bytes. */
static int encode_map(struct run *run, const struct wisdom_instruction *it, const int64_t *top) {
    static const cuuint32_t every[MAP_RANK_MAX] = {1, 1, 1, 1, 1};
    const int rank = it->c, strided = (it->b & MAP_STRIDES) != 0;
    const int64_t *box = top - rank, *strides = strided ? box - (rank - 1) : box,
                  *extents = strides - rank, element_bytes = extents[-1];
    const CUtensorMapDataType type = element_bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                     : element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                     : element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                                          : CU_TENSOR_MAP_DATA_TYPE_UINT64;
    CUtensorMap *map = &run->arguments[run->argument_count++].map;
    void *address = address_of(run, it->a);
    cuuint64_t sizes[MAP_RANK_MAX], steps[MAP_RANK_MAX], packed = (cuuint64_t)element_bytes;
    cuuint32_t box_sizes[MAP_RANK_MAX];
    memset(map, 0, sizeof *map);
    if (address == NULL)
        return 0;
    for (int i = 0; i < rank; i++) {
        sizes[i] = (cuuint64_t)extents[rank - 1 - i];
        box_sizes[i] = (cuuint32_t)box[rank - 1 - i];
        steps[i] = packed *= sizes[i];
        if (strided && i < rank - 1)
            steps[i] = (cuuint64_t)(strides[rank - 2 - i] * element_bytes);
    }
    return (int)driver.cuTensorMapEncodeTiled(
        map, type, (cuuint32_t)rank, address, sizes, steps, box_sizes, every,
        CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)(it->b & 0xff),
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* A window is no longer than the device's longest; a device without windows gets none. */
static void add_window(struct run *run, CUlaunchConfig *config) {
    CUdevice device;
    int most = 0;
    if (run->window_percent <= 0 || driver.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
        driver.cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE,
                                    device) != CUDA_SUCCESS ||
        most <= 0)
        return;
    CUlaunchAttribute *to = &config->attrs[config->numAttrs++];
    CUaccessPolicyWindow *of = &to->value.accessPolicyWindow;
    to->id = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
    of->base_ptr = (void *)run->window;
    of->num_bytes = (size_t)(run->window_bytes < most ? run->window_bytes : most);
    of->hitRatio = (float)run->window_percent / 100;
    of->hitProp = CU_ACCESS_PROPERTY_PERSISTING;
    of->missProp = CU_ACCESS_PROPERTY_STREAMING;
}

static int launch_function(struct run *run, CUfunction function, const int64_t *of) {
    CUlaunchAttribute attributes[3];
    CUlaunchConfig config = {.gridDimX = (unsigned)of[0],
                             .gridDimY = (unsigned)of[1],
                             .gridDimZ = (unsigned)of[2],
                             .blockDimX = (unsigned)of[3],
                             .blockDimY = (unsigned)of[4],
                             .blockDimZ = (unsigned)of[5],
                             .sharedMemBytes = (unsigned)of[6],
                             .hStream = (CUstream)run->call->stream,
                             .attrs = attributes};
    void *pointers[WISDOM_ARGUMENTS_MAX];
    for (int i = 0; i < run->argument_count; i++)
        pointers[i] = &run->arguments[i];
    if (of[7] != 0) {
        attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attributes[config.numAttrs++].value.programmaticStreamSerializationAllowed = 1;
    }
    if (of[8] != 0) {
        attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        attributes[config.numAttrs++].value.cooperative = 1;
    }
    add_window(run, &config);
    run->window_percent = 0;
    run->argument_count = 0;
    return (int)driver.cuLaunchKernelEx(&config, function, pointers, NULL);
}

static int launch_kernel(struct run *run, const struct wisdom_instruction *it, const int64_t *top) {
    static const int64_t most[7] = {INT32_MAX, 65535, 65535, 1024, 1024, 64, INT32_MAX};
    const int64_t *of = top - 9;
    CUfunction function;
    int status = 0;
    for (int i = 0; i < 7; i++)
        if (of[i] < (i < 6) || of[i] > most[i])
            return EVOTILE_WISDOM_NO_KERNEL;
    if (atomic_load(&run->machine->kernels[it->b]) == NULL)
        status = load(run, it->b);
    if (status == 0)
        status =
            (int)driver.cuKernelGetFunction(&function, atomic_load(&run->machine->kernels[it->b]));
    if (status == 0 && of[6] > 48 * 1024)
        status = (int)driver.cuFuncSetAttribute(
            function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)of[6]);
    return status == 0 ? launch_function(run, function, of) : status;
}

int evotile_wisdom_launch(const struct evotile_wisdom_choice *choice,
                          const struct evotile_wisdom_call *call) {
    const struct evotile_wisdom_kernel *kernel = choice->kernel;
    struct run run;
    int status = open_driver();
    if (status != 0)
        return status;
    run.kernel = kernel;
    run.machine = &kernel->machines[kernel->machine_of[choice->entry]];
    run.call = call;
    run.stop = AT_END;
    run.used = 0;
    run.argument_count = 0;
    run.window_percent = 0;
    memset(run.bytes, 0, sizeof run.bytes);
    memcpy(run.slots, choice->shape, kernel->dimension_count * sizeof *run.slots);
    memset(run.slots + kernel->dimension_count, 0,
           (run.machine->program->slot_count - kernel->dimension_count) * sizeof *run.slots);
    return execute(&run);
}

void evotile_wisdom_close(struct evotile_wisdom_kernel *kernel) {
    if (kernel == NULL)
        return;
    for (uint32_t i = 0; i < kernel->machine_count; i++) {
        if (atomic_load(&kernel->machines[i].library) != NULL)
            driver.cuLibraryUnload(atomic_load(&kernel->machines[i].library));
        free(kernel->machines[i].kernels);
    }
    free(kernel->machines);
    for (uint32_t i = 0; kernel->kept != NULL && i < KEPT_PICKS; i++)
        free(atomic_load(&kernel->kept[i]));
    free(kernel->kept);
    free(kernel->machine_of);
    free(kernel->table);
    free(kernel->logarithms);
    pthread_mutex_destroy(&kernel->loading);
    free(kernel);
}
