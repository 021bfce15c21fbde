#include "outcome/key.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static const char *const part_names[KEY_PART_COUNT] = {
    [KEY_GENOME] = "genome", [KEY_TEMPLATE] = "template", [KEY_OPTIONS] = "options",
    [KEY_CASES] = "cases",   [KEY_DEVICE] = "device",     [KEY_DRIVER] = "driver",
    [KEY_NVRTC] = "nvrtc",   [KEY_METHOD] = "method",
};

const char *key_part_name(enum key_part part) {
    return part_names[part];
}

void key_set(struct key *key, enum key_part part, const char *text) {
    char *copy = xstrdup(text); /* before free: `text` may be the part itself */
    free(key->parts[part]);
    key->parts[part] = copy;
}

void key_copy(struct key *copy, const struct key *key) {
    *copy = (struct key){0};
    for (int part = 0; part < KEY_PART_COUNT; part++)
        if (key->parts[part] != NULL)
            key_set(copy, part, key->parts[part]);
}

void key_release(struct key *key) {
    for (int part = 0; part < KEY_PART_COUNT; part++)
        free(key->parts[part]);
    *key = (struct key){0};
}

struct hash key_hash(const struct key *key) {
    struct hasher *hasher = hasher_new();
    for (int part = 0; part < KEY_PART_COUNT; part++) {
        if (key->parts[part] == NULL)
            BUG("a key without %s", part_names[part]);
        hasher_add_text(hasher, key->parts[part]);
    }
    return hasher_finish(hasher);
}

int key_compare(const struct key *a, const struct key *b,
                struct key_difference differences[KEY_PART_COUNT]) {
    int count = 0;
    for (int part = 0; part < KEY_PART_COUNT; part++) {
        const char *in_a = a->parts[part], *in_b = b->parts[part];
        if (in_a == in_b || (in_a != NULL && in_b != NULL && strcmp(in_a, in_b) == 0))
            continue;
        differences[count++] =
            (struct key_difference){.part = part, .name = part_names[part], .a = in_a, .b = in_b};
    }
    return count;
}
