#include "lint/mutant_kinds.h"

#include <inttypes.h>
#include <string.h>

enum { WORD_SIZE = 64 };

/* ---- words of an opcode ---- */

static bool starts(struct slice opcode, const char *prefix) {
    size_t length = strlen(prefix);
    return (size_t)opcode.length >= length && memcmp(opcode.text, prefix, length) == 0;
}

/* Whether `.word` is one of the opcode's modifiers; *at is its offset, behind the dot. */
static bool find_word(struct slice opcode, const char *word, int *at) {
    const int length = (int)strlen(word);
    for (int i = 0; i + length < opcode.length; i++)
        if (opcode.text[i] == '.' && memcmp(opcode.text + i + 1, word, (size_t)length) == 0 &&
            (i + 1 + length == opcode.length || opcode.text[i + 1 + length] == '.')) {
            *at = i + 1;
            return true;
        }
    return false;
}

/* The last modifier, which is a type in what is changed here. */
static enum type last_type(struct slice opcode, struct slice *word) {
    int at = opcode.length;
    while (at > 0 && opcode.text[at - 1] != '.')
        at--;
    *word = (struct slice){opcode.text + at, opcode.length - at};
    return type_parse(word->text, word->length);
}

static bool is_barrier(struct slice opcode) {
    return starts(opcode, "bar.sync") || starts(opcode, "barrier.sync") ||
           starts(opcode, "barrier.cta.sync") || starts(opcode, "bar.warp.sync");
}

/* ---- the text of an instruction ---- */

static void copy_bytes(struct strbuf *text, const struct site *site, size_t from, size_t to) {
    strbuf_add(text, site->ast->text + from, to - from);
}

static size_t offset_of(const struct site *site, const char *at) {
    return (size_t)(at - site->ast->text);
}

/* The instruction with other bytes in place of some; `with` is described by what it replaces. */
static bool replace(const struct site *site, struct slice old, const char *with,
                    struct strbuf *text, struct strbuf *change) {
    const size_t from = offset_of(site, old.text);
    copy_bytes(text, site, site->begin, from);
    strbuf_print(text, "%s", with);
    copy_bytes(text, site, from + (size_t)old.length, site->end);
    copy_bytes(change, site, site->begin, site->end);
    strbuf_print(change, " -> %s", text->bytes);
    return true;
}

static bool remove_instruction(const struct site *site, struct strbuf *text,
                               struct strbuf *change) {
    strbuf_print(text, ";");
    copy_bytes(change, site, site->begin, site->end);
    strbuf_print(change, " is removed");
    return true;
}

/* `guard opcode operands;` with all of it new. */
static bool rewrite(const struct site *site, const char *instruction, struct strbuf *text,
                    struct strbuf *change) {
    copy_bytes(text, site, site->begin, site->opcode);
    strbuf_print(text, "%s", instruction);
    copy_bytes(change, site, site->begin, site->end);
    strbuf_print(change, " -> %s", text->bytes);
    return true;
}

/* ---- the kinds ---- */

struct word_pair {
    const char *from, *to;
};

static bool change_word(const struct site *site, const struct word_pair *pairs, struct strbuf *text,
                        struct strbuf *change) {
    const struct slice opcode = site->statement->opcode;
    int at;
    for (; pairs->from != NULL; pairs++)
        if (find_word(opcode, pairs->from, &at))
            return replace(site, (struct slice){opcode.text + at, (int)strlen(pairs->from)},
                           pairs->to, text, change);
    return false;
}

static bool flip_comparison(const struct site *site, struct strbuf *text, struct strbuf *change) {
    static const struct word_pair pairs[] = {
        {"lt", "ge"},   {"ge", "lt"},   {"le", "gt"},   {"gt", "le"},   {"eq", "ne"},
        {"ne", "eq"},   {"lo", "hs"},   {"hs", "lo"},   {"ls", "hi"},   {"hi", "ls"},
        {"ltu", "geu"}, {"geu", "ltu"}, {"leu", "gtu"}, {"gtu", "leu"}, {NULL, NULL}};
    return starts(site->statement->opcode, "setp.") && change_word(site, pairs, text, change);
}

static bool shift_boundary(const struct site *site, struct strbuf *text, struct strbuf *change) {
    static const struct word_pair pairs[] = {
        {"lt", "le"}, {"le", "lt"}, {"gt", "ge"},   {"ge", "gt"},   {"lo", "ls"}, {"ls", "lo"},
        {"hi", "hs"}, {"hs", "hi"}, {"ltu", "leu"}, {"leu", "ltu"}, {NULL, NULL}};
    struct slice word;
    return starts(site->statement->opcode, "setp.") &&
           !type_is_float(last_type(site->statement->opcode, &word)) &&
           change_word(site, pairs, text, change);
}

static bool drop_barrier(const struct site *site, struct strbuf *text, struct strbuf *change) {
    return is_barrier(site->statement->opcode) && remove_instruction(site, text, change);
}

static bool drop_wait(const struct site *site, struct strbuf *text, struct strbuf *change) {
    const struct slice opcode = site->statement->opcode;
    return (starts(opcode, "cp.async.wait") || starts(opcode, "cp.async.bulk.wait") ||
            starts(opcode, "wgmma.wait_group") || starts(opcode, "barrier.cluster.wait") ||
            starts(opcode, "griddepcontrol.wait")) &&
           remove_instruction(site, text, change);
}

static bool is_shared_or_global(struct slice opcode) {
    int at;
    return find_word(opcode, "global", &at) || find_word(opcode, "shared", &at) ||
           find_word(opcode, "const", &at);
}

static bool drop_store(const struct site *site, struct strbuf *text, struct strbuf *change) {
    const struct slice opcode = site->statement->opcode;
    return ((starts(opcode, "st.") && is_shared_or_global(opcode)) || starts(opcode, "red.")) &&
           remove_instruction(site, text, change);
}

/* Adds the size of what is accessed to an address. */
static bool shift_address(const struct site *site, int operand, struct strbuf *text,
                          struct strbuf *change) {
    const struct slice opcode = site->statement->opcode;
    struct slice word;
    char with[32];
    int bytes = type_bytes(last_type(opcode, &word)), at;
    if (bytes == 0 || !is_shared_or_global(opcode) || operand >= site->operand_count)
        return false;
    bytes *= find_word(opcode, "v4", &at) ? 4 : find_word(opcode, "v2", &at) ? 2 : 1;
    const struct slice address = site->operands[operand];
    if (address.length < 2 || address.text[0] != '[' || address.text[address.length - 1] != ']')
        return false;
    const struct operand *parsed = &site->statement->operands[operand];
    if (parsed->kind != OPERAND_ADDRESS || parsed->count > 0 || parsed->name < 0)
        return false;
    const struct slice name = site->ast->names[parsed->name].slice;
    struct strbuf whole = {0};
    snprintf(with, sizeof with, "%+" PRId64, (int64_t)parsed->bits + bytes);
    strbuf_print(&whole, "[%.*s%s]", name.length, name.text, with);
    replace(site, address, whole.bytes, text, change);
    strbuf_release(&whole);
    return true;
}

static bool shift_load(const struct site *site, struct strbuf *text, struct strbuf *change) {
    return (starts(site->statement->opcode, "ld.") || starts(site->statement->opcode, "ldu.")) &&
           shift_address(site, 1, text, change);
}

static bool shift_store(const struct site *site, struct strbuf *text, struct strbuf *change) {
    return starts(site->statement->opcode, "st.") && shift_address(site, 0, text, change);
}

static bool subtract(const struct site *site, struct strbuf *text, struct strbuf *change) {
    const struct slice opcode = site->statement->opcode;
    struct slice word;
    return starts(opcode, "add.") && type_is_float(last_type(opcode, &word)) &&
           replace(site, (struct slice){opcode.text, 3}, "sub", text, change);
}

/* d = a * b + c becomes d = c, d = a + b becomes d = a, and so does a matrix product. */
static bool leave_out_term(const struct site *site, struct strbuf *text, struct strbuf *change) {
    const struct slice opcode = site->statement->opcode;
    struct slice type;
    const bool fused = starts(opcode, "fma."), sum = starts(opcode, "add.");
    const enum type kind = last_type(opcode, &type);
    const int kept = fused ? 3 : 1;
    if ((!fused && !sum) || !type_is_float(kind) || site->operand_count != (fused ? 4 : 3))
        return false;
    char instruction[2 * WORD_SIZE + 16];
    const char *move = type_bytes(kind) == 8   ? "mov.b64"
                       : type_bytes(kind) == 4 ? "mov.b32"
                                               : "mov.b16";
    if (site->operands[0].length > WORD_SIZE || site->operands[kept].length > WORD_SIZE)
        return false;
    snprintf(instruction, sizeof instruction, "%s %.*s, %.*s;", move, site->operands[0].length,
             site->operands[0].text, site->operands[kept].length, site->operands[kept].text);
    return rewrite(site, instruction, text, change);
}

/* A product of matrices is multiplied by its first rows twice: B's registers in reverse. */
static bool swap_fragments(const struct site *site, struct strbuf *text, struct strbuf *change) {
    const struct slice opcode = site->statement->opcode;
    const struct operand *parsed = site->statement->operands;
    if (!starts(opcode, "mma.") || site->operand_count < 4 || parsed[2].kind != OPERAND_VECTOR ||
        parsed[2].count != 2)
        return false;
    const struct slice old = site->operands[2];
    const char *comma = memchr(old.text, ',', (size_t)old.length);
    if (comma == NULL)
        return false;
    struct strbuf with = {0};
    strbuf_print(&with, "{%.*s, %.*s}", (int)(old.text + old.length - 1 - (comma + 1)), comma + 1,
                 (int)(comma - (old.text + 1)), old.text + 1);
    replace(site, old, with.bytes, text, change);
    strbuf_release(&with);
    return true;
}

static bool swap_extremes(const struct site *site, struct strbuf *text, struct strbuf *change) {
    const struct slice opcode = site->statement->opcode;
    const bool least = starts(opcode, "min.");
    return (least || starts(opcode, "max.")) &&
           replace(site, (struct slice){opcode.text, 3}, least ? "max" : "min", text, change);
}

static bool swap_operands(const struct site *site, struct strbuf *text, struct strbuf *change) {
    const struct slice opcode = site->statement->opcode;
    struct slice word;
    if ((!starts(opcode, "sub.") && !starts(opcode, "div.")) ||
        !type_is_float(last_type(opcode, &word)) || site->operand_count != 3)
        return false;
    const struct slice *a = &site->operands[1], *b = &site->operands[2];
    const struct slice both = {a->text, (int)(b->text + b->length - a->text)};
    struct strbuf with = {0};
    strbuf_print(&with, "%.*s, %.*s", b->length, b->text, a->length, a->text);
    replace(site, both, with.bytes, text, change);
    strbuf_release(&with);
    return true;
}

/* A number among the operands of arithmetic with whole numbers. */
static bool shift_constant(const struct site *site, struct strbuf *text, struct strbuf *change) {
    static const char *const opcodes[] = {"add.", "sub.",  "mul.lo.", "mad.lo.",
                                          "rem.", "div.s", "div.u"};
    const struct statement *statement = site->statement;
    struct slice word;
    char with[32];
    bool listed = false;
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        listed = listed || starts(statement->opcode, opcodes[i]);
    if (!listed || type_is_float(last_type(statement->opcode, &word)))
        return false;
    for (int i = 1; i < site->operand_count; i++)
        if (statement->operands[i].kind == OPERAND_INTEGER) {
            snprintf(with, sizeof with, "%" PRId64, (int64_t)statement->operands[i].bits + 1);
            return replace(site, site->operands[i], with, text, change);
        }
    return false;
}

static bool shift_lane(const struct site *site, struct strbuf *text, struct strbuf *change) {
    const struct statement *statement = site->statement;
    char with[32];
    if (!starts(statement->opcode, "shfl.sync.") || site->operand_count < 3 ||
        statement->operands[2].kind != OPERAND_INTEGER)
        return false;
    const uint64_t lanes = statement->operands[2].bits;
    snprintf(with, sizeof with, "%" PRIu64, lanes > 1 ? lanes / 2 : lanes + 1);
    return replace(site, site->operands[2], with, text, change);
}

static bool invert_condition(const struct site *site, struct strbuf *text, struct strbuf *change) {
    const struct statement *statement = site->statement;
    if (statement->guard < 0)
        return false;
    const struct slice name = site->ast->names[statement->guard].slice;
    struct strbuf with = {0};
    strbuf_print(&with, "@%s%.*s ", statement->guard_negated ? "" : "!", name.length, name.text);
    replace(site, (struct slice){site->ast->text + site->begin, (int)(site->opcode - site->begin)},
            with.bytes, text, change);
    strbuf_release(&with);
    return true;
}

/* Whether the statement is a branch back that the predicate decides. */
static bool branches_back(const struct site *site, int predicate, int *target) {
    for (int i = site->index + 1; i < site->function->statement_count; i++) {
        const struct statement *statement = &site->function->statements[i];
        if (statement->kind != STATEMENT_INSTRUCTION)
            return false;
        if (!starts(statement->opcode, "bra") || statement->guard != predicate ||
            statement->operand_count != 1)
            continue;
        for (int back = site->index; back >= 0; back--)
            if (site->function->statements[back].kind == STATEMENT_LABEL &&
                site->function->statements[back].name == statement->operands[0].name) {
                *target = back;
                return true;
            }
        return false;
    }
    return false;
}

/* The text of a statement's operand: a name or a number. */
static bool print_operand(const struct site *site, const struct operand *operand, char *text) {
    if (operand->kind == OPERAND_INTEGER) {
        snprintf(text, WORD_SIZE, "%" PRId64, (int64_t)operand->bits);
        return true;
    }
    if (operand->kind != OPERAND_NAME || operand->bits != 0)
        return false;
    const struct slice name = site->ast->names[operand->name].slice;
    snprintf(text, WORD_SIZE, "%.*s", name.length, name.text);
    return name.length < WORD_SIZE;
}

/* The comparison that ends a loop reads what its counter will be after one more round: the loop
   leaves out its last one. */
static bool skip_last(const struct site *site, struct strbuf *text, struct strbuf *change) {
    const struct statement *compare = site->statement;
    struct slice type;
    int target;
    char counter[WORD_SIZE], step[WORD_SIZE], other[WORD_SIZE], predicate[WORD_SIZE];
    const enum type kind = last_type(compare->opcode, &type);
    if (!starts(compare->opcode, "setp.") || type_is_float(kind) || type_bytes(kind) < 4 ||
        site->operand_count != 3 || compare->guard >= 0 ||
        compare->operands[0].kind != OPERAND_NAME ||
        !branches_back(site, compare->operands[0].name, &target))
        return false;
    for (int which = 1; which <= 2; which++) {
        const struct operand *operand = &compare->operands[which];
        if (operand->kind != OPERAND_NAME)
            continue;
        for (int i = target; i < site->index; i++) {
            const struct statement *add = &site->function->statements[i];
            if (add->kind != STATEMENT_INSTRUCTION || !starts(add->opcode, "add.") ||
                add->operand_count != 3 || add->operands[0].name != operand->name ||
                !print_operand(site, &add->operands[0], counter) ||
                !print_operand(site, &add->operands[2], step) ||
                !print_operand(site, &compare->operands[3 - which], other) ||
                !print_operand(site, &compare->operands[0], predicate))
                continue;
            strbuf_print(text, "{ .reg .b%d %%evotile_next; add.s%d %%evotile_next, %s, %s; ",
                         8 * type_bytes(kind), 8 * type_bytes(kind), counter, step);
            strbuf_print(text, "%.*s %s, %s, %s; }", compare->opcode.length, compare->opcode.text,
                         predicate, which == 1 ? "%evotile_next" : other,
                         which == 1 ? other : "%evotile_next");
            copy_bytes(change, site, site->begin, site->end);
            strbuf_print(change, " compares %s + %s", counter, step);
            return true;
        }
    }
    return false;
}

const struct mutant_kind mutant_kinds[] = {
    {"a flipped comparison", flip_comparison},
    {"a dropped barrier", drop_barrier},
    {"a load off by one", shift_load},
    {"a skipped last iteration", skip_last},
    {"an add made a subtract", subtract},
    {"a dropped store", drop_store},
    {"a boundary off by one", shift_boundary},
    {"a store off by one", shift_store},
    {"a term left out", leave_out_term},
    {"a constant off by one", shift_constant},
    {"another lane's number", shift_lane},
    {"an inverted condition", invert_condition},
    {"a dropped wait", drop_wait},
    {"a minimum for a maximum", swap_extremes},
    {"swapped operands", swap_operands},
    {"swapped matrix fragments", swap_fragments},
    {NULL, NULL},
};
