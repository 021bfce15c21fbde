/*
 * forms: every form of an instruction that table.h names, as a kernel of its own that each device
 * runs on the same random operands.
 *
 *     struct form_list list;
 *     form_list_make(&list);
 *     char *ptx = forms_ptx(&list, first, count);        // the kernels f0, f1 ... of some of them
 *     forms_fill(&list.forms[i], inputs, threads, form_seed(&list.forms[i], 0));
 *     ... run it on two devices: bench.h ...
 *     forms_compare(&list.forms[i], inputs, one, other, threads, &result);
 *     form_list_free(&list);
 *
 * A thread's operands are slots of 8 bytes, as are its results.
 */
#ifndef EVOTILE_TESTS_DEVICE_PTX_FORMS_FORMS_H
#define EVOTILE_TESTS_DEVICE_PTX_FORMS_FORMS_H

#include "ptx/forms/operands.h"
#include "ptx/forms/table.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    FORM_THREADS = 128, /* per block */
    FORM_TEXT = 128,
    FORM_GROUPS = 5,
    FORM_SLOTS = 16, /* per thread, for operands and for results */
    FORM_SCRATCH_BYTES = 16,
};

/* Registers of one type. */
struct form_group {
    enum type type;
    enum operand_kind_of kind;
    int count;
};

struct form {
    const struct form_row *row;
    char opcode[FORM_TEXT], extra[FORM_TEXT]; /* extra: $x */
    int result_count, operand_count, result_slots, operand_slots;
    struct form_group results[FORM_GROUPS], operands[FORM_GROUPS];
};

struct form_list {
    struct form *forms;
    int count, capacity;
};

/* The result of comparing a form. */
enum { FORM_SAMPLES = 6 };
struct form_result {
    double worst_ulps;
    long mismatches, compared;
    char samples[FORM_SAMPLES][200]; /* the first mismatches, with their operands */
    char worst[200];                 /* the same for the largest distance */
    char failure[320];               /* why it could not be run; empty if it was */
};

/* ---- from patterns to forms ---- */

static inline int form_bytes(enum type type) {
    int bytes = type_bytes(type);
    return type == TYPE_PRED ? 0 : bytes < 2 ? 2 : bytes;
}

/* The first and the last type in an opcode. */
static inline void form_types(const char *opcode, enum type *first, enum type *last) {
    *first = *last = TYPE_NONE;
    for (const char *at = strchr(opcode, '.'); at; at = strchr(at, '.')) {
        at++;
        enum type type = type_parse(at, (int)strcspn(at, "."));
        if (type == TYPE_NONE)
            continue;
        *first = *first == TYPE_NONE ? type : *first;
        *last = type;
    }
}

static inline struct form_group form_group_of(const struct form *form, const char *text,
                                              int length) {
    struct form_group group = {.count = 1};
    enum type first, last;
    const char *end = text + length;
    form_types(form->opcode, &first, &last);
    if (*text >= '1' && *text <= '9')
        group.count = *text++ - '0';
    const char *mark = memchr(text, '~', (size_t)(end - text));
    int name = (int)((mark ? mark : end) - text);
    group.type = name == 1 ? (*text == 'd' ? first : last) : type_parse(text, name);
    for (int i = 1; mark && i < KIND_COUNT_OF; i++)
        if ((size_t)(end - mark - 1) == strlen(operand_kinds[i]) &&
            !memcmp(mark + 1, operand_kinds[i], strlen(operand_kinds[i])))
            group.kind = (enum operand_kind_of)i;
    if (group.type == TYPE_NONE || (mark && group.kind == KIND_ANY)) {
        fprintf(stderr, "%s: no group of registers is '%.*s'\n", form->opcode, length, text);
        abort();
    }
    return group;
}

static inline void form_list_add(struct form_list *list, const struct form_row *row,
                                 const char *text) {
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 1024;
        list->forms = realloc(list->forms, (size_t)list->capacity * sizeof *list->forms);
    }
    struct form *form = &list->forms[list->count++];
    *form = (struct form){.row = row};
    const char *bar = strchr(text, '|');
    snprintf(form->opcode, sizeof form->opcode, "%.*s", (int)(bar ? bar - text : FORM_TEXT - 1),
             text);
    snprintf(form->extra, sizeof form->extra, "%s", bar ? bar + 1 : "");
    for (char *at = form->extra; (at = strchr(at, ';')) != NULL;)
        *at = ',';
    bool is_result = true;
    for (const char *at = row->groups; *at; at += strspn(at, " ")) {
        int length = (int)strcspn(at, " ");
        if (*at == '=') {
            is_result = false;
        } else {
            struct form_group group = form_group_of(form, at, length);
            if (is_result) {
                form->results[form->result_count++] = group;
                form->result_slots += group.count;
            } else {
                form->operands[form->operand_count++] = group;
                form->operand_slots += group.count;
            }
        }
        at += length;
    }
}

/* Expands the first braces and recurses for each alternative. */
static inline void form_list_expand(struct form_list *list, const struct form_row *row,
                                    const char *pattern) {
    const char *open = strchr(pattern, '{'), *at = open;
    if (!open) {
        form_list_add(list, row, pattern);
        return;
    }
    const char *close = strchr(open, '}');
    while (at != close) {
        char text[4 * FORM_TEXT];
        const char *from = at + 1;
        at = from + strcspn(from, ",}");
        snprintf(text, sizeof text, "%.*s%.*s%s", (int)(open - pattern), pattern, (int)(at - from),
                 from, close + 1);
        form_list_expand(list, row, text);
    }
}

static inline void form_list_make(struct form_list *list) {
    *list = (struct form_list){0};
    for (int i = 0; i < FORM_ROWS; i++)
        form_list_expand(list, &form_rows[i], form_rows[i].pattern);
}

static inline void form_list_free(struct form_list *list) {
    free(list->forms);
}

/* The name of a form in reports. */
static inline void form_name(const struct form *form, char name[2 * FORM_TEXT]) {
    snprintf(name, 2 * FORM_TEXT, "%s%s%s", form->opcode, *form->extra ? " " : "", form->extra);
}

/* The form of that name, which must be in the table. */
static inline const struct form *form_of_list(const struct form_list *list, const char *wanted) {
    char name[2 * FORM_TEXT];
    for (int i = 0; i < list->count; i++) {
        form_name(&list->forms[i], name);
        if (!strcmp(name, wanted))
            return &list->forms[i];
    }
    fprintf(stderr, "forms/table.h has no '%s'\n", wanted);
    abort();
}

/* ---- from forms to PTX ---- */

static inline int form_stride(const struct form *form) {
    return (form->operand_slots + 1) / 2 * 16; /* cp.async reads 16 bytes of them */
}

static const char form_result_names[] = "dqv", form_operand_names[] = "abceg";

static inline void form_write_group(FILE *out, const struct form_group *group, char name) {
    for (int i = 0; i < group->count; i++)
        fprintf(out, "%s%%%c%d", i ? ", " : group->count > 1 ? "{" : "", name, i);
    if (group->count > 1)
        fputc('}', out);
}

static inline void form_write_body(FILE *out, const struct form *form, const char *body) {
    enum type first, last;
    form_types(form->opcode, &first, &last);
    for (const char *at = body; *at; at++) {
        if (*at != '$') {
            fputc(*at, out);
            continue;
        }
        const char *result = strchr(form_result_names, *++at);
        const char *operand = strchr(form_operand_names, *at);
        if (result)
            form_write_group(out, &form->results[result - form_result_names], *at);
        else if (operand)
            form_write_group(out, &form->operands[operand - form_operand_names], *at);
        else if (*at == 'f')
            fputs(form->opcode, out);
        else if (*at == 'x')
            fputs(form->extra, out);
        else if (*at == 'u')
            fputs(strrchr(form->opcode, '.') + 1, out);
        else if (*at == 'w')
            fprintf(out, "b%d", 8 * type_bytes(last));
        else
            fprintf(out, "%%%c", *at);
    }
}

static inline void form_write_plain(FILE *out, const struct form *form) {
    fprintf(out, "%s ", form->opcode);
    for (int i = 0; i < form->result_count; i++) {
        fputs(i ? ", " : "", out);
        form_write_group(out, &form->results[i], form_result_names[i]);
    }
    for (int i = 0; i < form->operand_count; i++) {
        fputs(", ", out);
        form_write_group(out, &form->operands[i], form_operand_names[i]);
    }
    fputs(";", out);
}

static inline void form_write_registers(FILE *out, const struct form_group *group, char name) {
    for (int i = 0; i < group->count; i++)
        if (group->type == TYPE_PRED)
            fprintf(out, ".reg .pred %%%c%d;\n", name, i);
        else
            fprintf(out, ".reg .b%d %%%c%d;\n", 8 * form_bytes(group->type), name, i);
}

static inline void form_write_kernel(FILE *out, const struct form *form, int number) {
    fprintf(out,
            ".visible .entry f%d(.param .u64 in, .param .u64 out, .param .u64 scratch)\n%s%.0d%s{\n"
            ".reg .b64 %%n, %%out, %%m, %%z; .reg .b32 %%s, %%t, %%u;\n"
            ".shared .align 128 .b8 own[%d];\n",
            number, form->row->cluster ? ".reqnctapercluster " : "", form->row->cluster,
            form->row->cluster ? ", 1, 1\n" : "", FORM_THREADS * FORM_SCRATCH_BYTES);
    for (int i = 0; i < form->result_count; i++)
        form_write_registers(out, &form->results[i], form_result_names[i]);
    for (int i = 0; i < form->operand_count; i++)
        form_write_registers(out, &form->operands[i], form_operand_names[i]);
    fprintf(out,
            "ld.param.u64 %%n, [in]; ld.param.u64 %%out, [out]; ld.param.u64 %%z, [scratch];\n"
            "cvta.to.global.u64 %%n, %%n; cvta.to.global.u64 %%out, %%out;\n"
            "cvta.to.global.u64 %%z, %%z;\n"
            "mov.u32 %%t, %%ctaid.x; mov.u32 %%u, %%tid.x; mad.lo.u32 %%t, %%t, %d, %%u;\n"
            "mad.wide.u32 %%n, %%t, %d, %%n; mad.wide.u32 %%out, %%t, %d, %%out;\n"
            "mad.wide.u32 %%m, %%t, %d, %%z; add.u64 %%m, %%m, 256;\n"
            "mov.u32 %%s, own; mad.lo.u32 %%s, %%u, %d, %%s;\n",
            FORM_THREADS, form_stride(form), 8 * form->result_slots, FORM_SCRATCH_BYTES,
            FORM_SCRATCH_BYTES);
    for (int group = 0, slot = 0; group < form->operand_count; group++)
        for (int i = 0; i < form->operands[group].count; i++, slot++) {
            char name = form_operand_names[group];
            if (form->operands[group].type == TYPE_PRED)
                fprintf(out, "ld.global.b32 %%t, [%%n+%d]; setp.ne.b32 %%%c%d, %%t, 0;\n", 8 * slot,
                        name, i);
            else
                fprintf(out, "ld.global.b%d %%%c%d, [%%n+%d];\n",
                        8 * form_bytes(form->operands[group].type), name, i, 8 * slot);
        }
    fputs("{ ", out);
    if (form->row->body)
        form_write_body(out, form, form->row->body);
    else
        form_write_plain(out, form);
    fputs(" }\n", out);
    for (int group = 0, slot = 0; group < form->result_count; group++)
        for (int i = 0; i < form->results[group].count; i++, slot++) {
            char name = form_result_names[group];
            if (form->results[group].type == TYPE_PRED)
                fprintf(out, "selp.b32 %%t, 1, 0, %%%c%d; st.global.b32 [%%out+%d], %%t;\n", name,
                        i, 8 * slot);
            else
                fprintf(out, "st.global.b%d [%%out+%d], %%%c%d;\n",
                        8 * form_bytes(form->results[group].type), 8 * slot, name, i);
        }
    fputs("ret; }\n", out);
}

/* The kernels of `count` forms; the caller frees the text. */
static inline char *forms_ptx(const struct form_list *list, int first, int count) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        abort();
    fputs(".version 9.0\n.target sm_90a\n.address_size 64\n"
          ".const .align 4 .b32 form_constants[32] = {",
          out);
    for (int i = 0; i < 32; i++)
        fprintf(out, "%s%u", i ? ", " : "", 0x9e3779b9u * (unsigned)(i + 1));
    fputs("};\n.func (.param .b32 to) form_function(.param .b32 from) {\n"
          ".reg .b32 %x; ld.param.b32 %x, [from]; mad.lo.u32 %x, %x, 3, 1;\n"
          "st.param.b32 [to], %x; ret; }\n",
          out);
    for (int i = first; i < first + count; i++)
        form_write_kernel(out, &list->forms[i], i);
    fclose(out);
    return text;
}

/* ---- operands and results ---- */

/* The seed of the operands depends on the opcode, so that changes of other rows do not affect it.
 */
static inline uint64_t form_seed(const struct form *form, uint64_t seed) {
    seed ^= 0xcbf29ce484222325u;
    for (const char *at = form->opcode; *at; at++)
        seed = (seed ^ (unsigned char)*at) * 0x100000001b3u;
    return seed;
}

/* Fills the operands of `threads` threads. */
static inline void forms_fill(const struct form *form, unsigned char *inputs, int threads,
                              uint64_t seed) {
    size_t stride = (size_t)form_stride(form);
    memset(inputs, 0, stride * (size_t)threads);
    for (int thread = 0; thread < threads; thread++) {
        uint64_t alike = seed + (uint64_t)thread;
        bool same = form->operand_count > 1 && operand_random(&alike) % 12 == 0;
        for (int group = 0, slot = 0; group < form->operand_count; group++)
            for (int i = 0; i < form->operands[group].count; i++, slot++) {
                const struct form_group *is = &form->operands[group];
                uint64_t of = seed * 64 + (uint64_t)slot + 1;
                if (same && is->kind == KIND_ANY && is->type == form->operands[0].type)
                    of = seed * 64 + 1;
                uint64_t number = operand_number(is->type, is->kind, thread, operand_random(&of));
                memcpy(inputs + stride * (size_t)thread + 8 * (size_t)slot, &number, 8);
            }
    }
}

static inline long double float_value(enum type type, uint64_t bits) {
    switch (type) {
    case TYPE_F16:
        return half_to_float((uint16_t)bits);
    case TYPE_BF16:
        return bfloat_to_float((uint16_t)bits);
    case TYPE_F64:
        return bits_double(bits);
    default:
        return bits_float((uint32_t)bits);
    }
}

/* The distance of two numbers in units of the last place of the largest of them and of `least`: 0
   if they are equal or both NaN; infinity if only one is NaN, or if they are zeros of different
   signs. An infinity counts as the power of two at the end of the format. */
static inline double float_distance(enum type type, uint64_t a, uint64_t b, long double least) {
    struct float_format format = float_format_of(type);
    long double x = float_value(type, a), y = float_value(type, b);
    int end = 1 << (format.bits - 2 - format.digits), first = 2 - end - format.digits;
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? 0 : INFINITY;
    if (x == y)
        return (x == 0 && a != b) && least == 0 ? INFINITY : 0;
    x = isinf(x) ? copysignl(ldexpl(1, end), x) : x;
    y = isinf(y) ? copysignl(ldexpl(1, end), y) : y;
    long double magnitude = fmaxl(fmaxl(fabsl(x), fabsl(y)), least);
    int exponent = isinf(magnitude) || magnitude == 0 ? end : ilogbl(magnitude) - format.digits;
    return (double)ldexpl(fabsl(x - y), -(exponent > first ? exponent : first));
}

/* The distance for one register: packed formats hold two numbers. */
static inline double form_distance(const struct form_row *row, enum type type, uint64_t a,
                                   uint64_t b) {
    int bits = type == TYPE_PRED ? 32 : 8 * form_bytes(type);
    a = low_bits(a, bits);
    b = low_bits(b, bits);
    if (!type_is_float(type))
        return a == b ? 0 : INFINITY;
    if (type == TYPE_F16X2 || type == TYPE_BF16X2) {
        enum type half = type == TYPE_F16X2 ? TYPE_F16 : TYPE_BF16;
        double low = form_distance(row, half, a & 0xffff, b & 0xffff);
        double high = form_distance(row, half, a >> 16, b >> 16);
        return low > high ? low : high;
    }
    return float_distance(type, a, b, (long double)row->least);
}

static inline void form_describe(const struct form *form, const unsigned char *inputs, int thread,
                                 int slot, uint64_t a, uint64_t b, char text[200]) {
    size_t bytes = 200;
    size_t used = (size_t)snprintf(text, bytes, "thread %d, result %d: 0x%llx and 0x%llx of",
                                   thread, slot, (unsigned long long)a, (unsigned long long)b);
    for (int i = 0; i < form->operand_slots && used < bytes; i++) {
        uint64_t operand;
        memcpy(&operand, inputs + (size_t)form_stride(form) * (size_t)thread + 8 * (size_t)i, 8);
        used += (size_t)snprintf(text + used, bytes - used, " 0x%llx", (unsigned long long)operand);
    }
}

static inline void forms_compare(const struct form *form, const unsigned char *inputs,
                                 const uint64_t *one, const uint64_t *other, int threads,
                                 struct form_result *result) {
    for (int thread = 0; thread < threads; thread++)
        for (int group = 0, slot = 0; group < form->result_count; group++)
            for (int i = 0; i < form->results[group].count; i++, slot++) {
                size_t at = (size_t)thread * (size_t)form->result_slots + (size_t)slot;
                double distance =
                    form_distance(form->row, form->results[group].type, one[at], other[at]);
                result->compared++;
                bool is_worst = distance > result->worst_ulps;
                bool is_sample = distance > form->row->ulps && result->mismatches++ < FORM_SAMPLES;
                if (is_worst)
                    result->worst_ulps = distance;
                if (is_worst || is_sample)
                    form_describe(form, inputs, thread, slot, one[at], other[at],
                                  is_sample ? result->samples[result->mismatches - 1]
                                            : result->worst);
                if (is_worst && is_sample)
                    memcpy(result->worst, result->samples[result->mismatches - 1],
                           sizeof result->worst);
            }
}

#endif
