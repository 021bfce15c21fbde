/*
 * Every function of <cuda/ptx> for sm_90a decodes: names and parameters are read from the toolkit's
 * headers, a kernel is generated for each, NVRTC compiles all, and no instruction may be unknown.
 * The same for common Hopper instructions that have no such function. Instructions for several GPUs
 * (multimem) are rejected.
 */
#include "ptx/harness.h"
#include "ptx/kernels.h"

#include "base/process.h"

#include <glob.h>

enum { FILES_MAX = 256, NAME_BYTES = 128, CALLS_BYTES = 1 << 13, CHOICES_MAX = 9 };

/* A kernel for each function and each value of its template parameters. */
struct wrappers {
    char *source;
    size_t source_bytes;
    FILE *out;
    int kernels, functions;
};

static const char prelude[] =
    "#include <cuda/ptx>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
    "namespace cuda { namespace ptx {\n"
    "using _B8 = unsigned char; using _B16 = unsigned short; using _B32 = unsigned;\n"
    "using _B64 = unsigned long long; using _B128 = longlong2;\n"
    "template <class T> __device__ T given(const char *&at) {\n"
    "    T value = *(const T *)at; at += 16; return value; }\n"
    "template <class T> __device__ void keep(char *out, const T &value) { *(T *)out = value; }\n";

/* ---- texts ---- */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The last occurrence of `what` in [text, end), or NULL. */
static const char *last_of(const char *text, const char *end, const char *what) {
    const char *found = NULL;
    for (const char *at = text; (at = strstr(at, what)) != NULL && at < end; at++)
        found = at;
    return found;
}

static char *file_text(const char *path) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = fopen(path, "r"), *copy = open_memstream(&text, &bytes);
    assert_non_null(file);
    for (int c; (c = fgetc(file)) != EOF;)
        fputc(c, copy);
    fclose(file);
    fclose(copy);
    return text;
}

/* The end of the parameter that begins at `at`: a comma outside brackets, or `end`. */
static const char *parameter_end(const char *at, const char *end) {
    for (int depth = 0; at < end; at++) {
        depth +=
            (*at == '(' || *at == '<' || *at == '[') - (*at == ')' || *at == '>' || *at == ']');
        if (*at == ',' && depth == 0)
            break;
    }
    return at;
}

/* ---- one function ---- */

/* The values that a static_assert allows for `name`: scope_cta, scope_cluster. */
static int choices_of(const char *body, const char *body_end, const char *name,
                      char choices[CHOICES_MAX][NAME_BYTES]) {
    char wanted[NAME_BYTES + 8];
    int count = 0;
    const char *assertion = strstr(body, "static_assert("), *at = assertion;
    snprintf(wanted, sizeof wanted, "%s == ", name);
    if (!assertion || assertion > body_end)
        return 0;
    const char *end = strchr(assertion, ';');
    while (count < CHOICES_MAX && (at = strstr(at, wanted)) != NULL && at < end) {
        at += strlen(wanted);
        int length = (int)strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
        snprintf(choices[count++], NAME_BYTES, "%.*s", length, at);
    }
    return count;
}

/* Writes the argument for a parameter; `*choices` is set to the number of values its template
   parameter may have, of which `choice` is used. */
static void write_argument(FILE *before, FILE *call, const char *at, const char *end,
                           const char *body, const char *body_end, int choice, int *choices) {
    char values[CHOICES_MAX][NAME_BYTES], name[NAME_BYTES];
    const char *stop = end, *array = strstr(at, "(&");
    if (array && array < end) {
        int length = (int)strcspn(array + 2, ")");
        snprintf(name, sizeof name, "%.*s", length, array + 2);
        int count = atoi(array + 2 + length + 2);
        fprintf(before, "    %.*s %s[%d] = {", (int)(array - at), at, name, count);
        for (int i = 0; i < count; i++)
            fprintf(before, "%sgiven<%.*s>(in)", i ? ", " : "", (int)(array - at), at);
        fputs("};\n", before);
        fputs(name, call);
        return;
    }
    while (stop > at && is_word(stop[-1]))
        stop--;
    snprintf(name, sizeof name, "%.*s", (int)(end - stop), stop);
    const char *open = memchr(at, '<', (size_t)(end - at));
    if (strncmp(name, "__", 2) != 0) { /* a tag */
        fprintf(call, "%.*s{}", (int)(end - at), at);
    } else if (open && !strncmp(at, "n32_t", 5)) {
        fprintf(call, "n32_t<%d>{}", strcmp(name, "__size") == 0 ? 128 : 0);
    } else if (open) {
        int count = choices_of(body, body_end, name, values);
        assert_true(count > 0);
        *choices = count;
        fputs(values[choice], call);
    } else {
        const char *type_end = stop[-1] == '&' || stop[-2] == '&' ? stop - 2 : stop;
        fprintf(call, "given<%.*s>(in)", (int)(type_end - at + (*type_end == '*')), at);
    }
}

/* Writes the kernel that calls the function with one choice; returns the number of choices. */
static int write_kernel(struct wrappers *wrappers, const char *head, const char *open,
                        const char *close, const char *body_end, int choice) {
    char *before = NULL, *call = NULL;
    size_t before_bytes = 0, call_bytes = 0;
    FILE *lines = open_memstream(&before, &before_bytes),
         *line = open_memstream(&call, &call_bytes);
    const char *name = open;
    const char *sized = strstr(close, "sizeof(_Type)"); /* of 4 or 8 bytes */
    int choices = sized && sized < body_end ? 2 : 1, result;
    while (is_word(name[-1]))
        name--;
    for (const char *at = open + 1; at < close;) {
        at += strspn(at, " \n");
        const char *end = parameter_end(at, close);
        if (end > at)
            write_argument(lines, line, at, end, close, body_end, choice, &choices);
        fputs(end < close ? ", " : "", line);
        at = end + 1;
    }
    fclose(lines);
    fclose(line);
    result = !strncmp(head, "void", 4);
    fprintf(wrappers->out, "#undef _Type\n#define _Type unsigned%s\n", choice ? " long long" : "");
    fprintf(
        wrappers->out,
        "extern \"C\" __global__ void k%d_%.*s(const char *in, char *out) {\n%s    %s%.*s(%s)%s;\n"
        "}\n",
        wrappers->kernels++, (int)(open - name), name, before, result ? "" : "keep(out, ",
        (int)(open - name), name, call, result ? "" : ")");
    free(before);
    free(call);
    return choices;
}

static void add_file(struct wrappers *wrappers, const char *path) {
    static const char declaration[] = "_CCCL_DEVICE static inline", guard[] = "#if __cccl_ptx_isa";
    char *text = file_text(path);
    for (const char *at = text; (at = strstr(at, declaration)) != NULL;) {
        const char *head = at + strlen(declaration) + 1, *open = strchr(head, '(');
        const char *body = strstr(open, "\n{"), *body_end = strstr(body, "\n}");
        const char *close = body, *isa = last_of(text, at, guard),
                   *newer = strstr(at, "before_SM_10");
        while (*close != ')')
            close--;
        at = body_end;
        if (newer && newer < body_end)
            continue;
        wrappers->functions++;
        fprintf(wrappers->out, "%.*s\n", (int)strcspn(isa, "\n"), isa);
        for (int choice = 0, choices = 1; choice < choices; choice++)
            choices = write_kernel(wrappers, head, open, close, body_end, choice);
        fputs("#endif\n", wrappers->out);
    }
    free(text);
}

/* ---- the tests ---- */

static void every_function_decodes(void **state) {
    (void)state;
    static const char folder[] = "cccl/cuda/__ptx/instructions/generated/*.h";
    static const char *const others[] = {"/tcgen05", "/multimem"};
    struct wrappers wrappers = {0};
    char pattern[512], log[8192];
    const char *home = getenv("CUDA_HOME");
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s/include/%s", home ? home : EVOTILE_CUDA_HOME, folder);
    if (glob(pattern, 0, NULL, &files) != 0)
        skip();
    wrappers.out = open_memstream(&wrappers.source, &wrappers.source_bytes);
    fputs(prelude, wrappers.out);
    for (size_t i = 0; i < files.gl_pathc; i++)
        if (!strstr(files.gl_pathv[i], others[0]) && !strstr(files.gl_pathv[i], others[1]))
            add_file(&wrappers, files.gl_pathv[i]);
    fputs("}}\n", wrappers.out);
    fclose(wrappers.out);
    globfree(&files);
    char *ptx = compile_cuda(wrappers.source, "compute_90a", log, sizeof log);
    if (!ptx && !log[0])
        skip();
    if (!ptx)
        fail_msg("%s", log);
    struct harness harness;
    harness_open(&harness, ptx);
    int kernels = 0, refused = 0;
    for (const struct ptx_kernel *kernel; (kernel = kernel_at(harness.module, kernels)); kernels++)
        if (kernel->error && refused++ < 20)
            print_message("%s: %s\n", kernel->name, kernel->error);
    print_message("%d functions, %d kernels\n", wrappers.functions, kernels);
    assert_int_equal(refused, 0);
    assert_true(wrappers.functions > 700 && kernels > wrappers.functions);
    harness_close(&harness);
    free(ptx);
    free(wrappers.source);
}

/* Registers: %p predicates, %h 16 bits, %r 32, %d 64, %w 128. */
static const char *const statements[] = {
    "elect.sync %r0|%p0, 0xffffffff",
    "griddepcontrol.wait",
    "griddepcontrol.launch_dependents",
    "setmaxnreg.inc.sync.aligned.u32 232",
    "setmaxnreg.dec.sync.aligned.u32 40",
    "prefetch.tensormap [%d0]",
    "prefetch.global.L2::evict_last [%d0]",
    "cp.async.bulk.prefetch.L2.global [%d0], 128",
    "cp.async.bulk.prefetch.L2.global.L2::cache_hint [%d0], %r0, %d1",
    "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%d0, {%r0, %r1}]",
    "cp.async.bulk.prefetch.tensor.4d.L2.global.L2::cache_hint [%d0, {%r0, %r1, %r2, %r3}], %d1",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r0], "
    "[%d0], %r1, [%r2], %d1",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r0], "
    "[%d0], %r1, [%r2], %h0",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
    ".L2::cache_hint [%r0], [%d0], %r1, [%r2], %h0, %d1",
    "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%d0], [%r0], %r1, %d1",
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
    "[%r0], [%d0, {%r1, %r2}], [%r3], %d1",
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
    ".multicast::cluster.L2::cache_hint [%r0], [%d0, {%r1, %r2}], [%r3], %h0, %d1",
    "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group.L2::cache_hint "
    "[%d0, {%r1, %r2, %r3, %r4}], [%r0], %d1",
    "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.bulk_group [%d0, {%r1, %r2, %r3}], "
    "[%r0]",
    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.bulk_group.L2::cache_hint "
    "[%d0, {%r1, %r2}], [%r0], %d1",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.f32 [%d0], [%r0], "
    "%r1, %d1",
    "cp.async.ca.shared.global.L2::128B [%r0], [%d0], 4, %r1",
    "cp.async.cg.shared.global.L2::cache_hint [%r0], [%d0], 16, %d1",
    "cp.async.cg.shared.global.L2::cache_hint.L2::256B [%r0], [%d0], 16, %r1, %d1",
    "mbarrier.arrive.shared::cluster.b64 _, [%r0]",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r0], %r1",
    "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [%r0], %r1",
    "mbarrier.arrive.noComplete.shared.b64 %d0, [%r0], %r1",
    "mbarrier.arrive.b64 %d0, [%d1]",
    "mbarrier.arrive_drop.shared.b64 %d0, [%r0]",
    "mbarrier.arrive_drop.noComplete.shared.b64 %d0, [%r0], %r1",
    "mbarrier.arrive_drop.expect_tx.release.cta.shared::cta.b64 %d0, [%r0], %r1",
    "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%r0]",
    "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r0], %r1",
    "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r0], %r1",
    "mbarrier.complete_tx.shared::cta.b64 [%r0], 16",
    "mbarrier.pending_count.b64 %r0, %d0",
    "mbarrier.inval.shared::cta.b64 [%r0]",
    "mbarrier.test_wait.acquire.cluster.shared::cta.b64 %p0, [%r0], %d0",
    "mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r0], %r1, %r2",
    "mbarrier.try_wait.parity.b64 %p0, [%d0], %r1, 0x989680",
    "mapa.u64 %d0, %d1, %r0",
    "mapa.shared::cluster.u32 %r0, %r1, 3",
    "getctarank.shared::cluster.u32 %r0, %r1",
    "ld.shared::cluster.v4.b32 {%r0, %r1, %r2, %r3}, [%r4]",
    "st.shared::cluster.v2.b64 [%r4], {%d0, %d1}",
    "ld.acquire.cluster.shared::cluster.b32 %r0, [%r1]",
    "st.release.cluster.shared::cluster.b32 [%r1], %r0",
    "atom.relaxed.cluster.shared::cluster.add.u32 %r0, [%r1], %r2",
    "red.release.cluster.shared::cluster.add.u32 [%r1], %r2",
    "ld.global.nc.L1::no_allocate.L2::256B.v4.b32 {%r0, %r1, %r2, %r3}, [%d0]",
    "ld.global.nc.L1::evict_last.L2::cache_hint.v4.u32 {%r0, %r1, %r2, %r3}, [%d0], %d1",
    "ld.mmio.relaxed.sys.global.u32 %r0, [%d0]",
    "st.mmio.relaxed.sys.global.u32 [%d0], %r0",
    "ld.weak.global.L2::64B.b32 %r0, [%d0]",
    "st.global.L1::evict_first.L2::cache_hint.b32 [%d0], %r0, %d1",
    "ld.relaxed.gpu.global.b128 %w0, [%d0]",
    "atom.global.exch.b128 %w0, [%d0], %w1",
    "atom.relaxed.gpu.global.cas.b128 %w0, [%d0], %w1, %w2",
    "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %d0, 0.5",
    "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d0, [%d1], %r0, %r1",
    "createpolicy.cvt.L2.b64 %d0, 0x14F0000000000000",
    "isspacep.shared::cluster %p0, %d0",
    "isspacep.shared::cta %p0, %d0",
    "cvta.to.shared.u64 %d0, %d1",
    "cvta.shared::cluster.u64 %d0, %d1",
    "fence.proxy.tensormap::generic.acquire.gpu [%d0], 128",
    "fence.proxy.tensormap::generic.release.gpu",
    "fence.mbarrier_init.release.cluster",
    "fence.proxy.async.shared::cta",
    "fence.acq_rel.cluster",
    "barrier.cluster.arrive.relaxed.aligned",
    "barrier.cluster.wait.acquire.aligned",
    "bar.sync %r0, %r1",
    "barrier.cta.arrive %r0, 64",
    "nanosleep.u32 %r0",
    "discard.global.L2 [%d0], 128",
    "applypriority.global.L2::evict_normal [%d0], 128",
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

static char *statements_ptx(const char *const *each, int count) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    fputs(".version 8.4\n.target sm_90a\n.address_size 64\n", out);
    for (int i = 0; i < count; i++)
        fprintf(out,
                ".visible .entry s%d() {\n.reg .pred %%p<2>;\n.reg .b16 %%h<2>;\n"
                ".reg .b32 %%r<5>;\n.reg .b64 %%d<3>;\n.reg .b128 %%w<3>;\n%s;\nret;\n}\n",
                i, each[i]);
    fclose(out);
    return text;
}

static void usual_instructions_decode(void **state) {
    (void)state;
    char *ptx = statements_ptx(statements, STATEMENTS);
    int refused = 0;
    struct harness harness;
    harness_open(&harness, ptx);
    for (int i = 0; i < STATEMENTS; i++) {
        const struct ptx_kernel *kernel = kernel_at(harness.module, i);
        if (kernel->error && refused++ < 20)
            print_message("%s: %s\n", statements[i], kernel->error);
    }
    assert_int_equal(refused, 0);
    harness_close(&harness);
    free(ptx);
}

static void what_needs_several_gpus_is_refused(void **state) {
    (void)state;
    static const char *const each[] = {
        "multimem.ld_reduce.relaxed.gpu.global.add.f32 %r0, [%d0]",
        "multimem.st.relaxed.gpu.global.b32 [%d0], %r0",
        "multimem.red.relaxed.gpu.global.add.u32 [%d0], %r0",
    };
    enum { COUNT = sizeof each / sizeof *each };
    char *ptx = statements_ptx(each, COUNT);
    struct harness harness;
    harness_open(&harness, ptx);
    for (int i = 0; i < COUNT; i++) {
        const char *error = kernel_at(harness.module, i)->error;
        assert_non_null(error);
        assert_non_null(strstr(error, "several GPUs"));
    }
    harness_close(&harness);
    free(ptx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_decodes),
        cmocka_unit_test(usual_instructions_decode),
        cmocka_unit_test(what_needs_several_gpus_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
