/* Solutions of a client that try to leave their place: to read files, to write some, to open a
   socket, to start work that no client may start, to use up time, memory or room, to be taken for
   the judge. Each is refused or contained, the server goes on, and nothing outside its folder
   changes.
 */
#include "serve/served.h"

#include "base/sandbox.h"

#include <sys/stat.h>
#include <time.h>

/* A file of the host that no answer may show. */
static const char secret[] = "the secret of the host 5d41402abc4b2a76";
static char secret_path[] = "/tmp/serve_secret.XXXXXX";

struct attempt {
    const char *what;
    const char *in_kernel;   /* before the kernel */
    const char *in_body;     /* at the start of the kernel's body */
    const char *file, *text; /* a further file, or one in place of the solution's */
    const char *option;      /* in solution.json */
    const char *verdicts;    /* that are right */
};

#define TIMED_OUT "timeout crashed wrong invalid"

static const struct attempt attempts[] = {
    {"an absolute include", "#include \"/etc/passwd\"\n", .verdicts = "invalid"},
    {"an include in angle brackets", "#include </etc/passwd>\n", .verdicts = "invalid"},
    {"an include of a parent folder", "#include \"../../config.json\"\n", .verdicts = "invalid"},
    {"an include that a macro names", "#define SECRET \"/etc/passwd\"\n#include SECRET\n",
     .verdicts = "invalid"},
    {"an include of __FILE__", "#include __FILE__\n", .verdicts = "invalid"},
    {"an include by a digraph", "%:include \"/etc/passwd\"\n",
     .verdicts = "invalid compile_failed"},
    {"an include over a continued line", "#inc\\\nlude \"/etc/passwd\"\n",
     .verdicts = "invalid compile_failed"},
    {"a test for a file", "#if __has_include(\"/etc/passwd\")\n#error it is there\n#endif\n",
     .verdicts = "ok"},
    {"a test for a file by a pasted word",
     "#define PASTE(a, b) a##b\n#define ASK PASTE(__has_, include)\n#if ASK(\"/etc/passwd\")\n"
     "#error it is there\n#endif\n",
     .verdicts = "ok"},
    {"an embedded file", "__device__ const char stolen[] = {\n#embed \"/etc/passwd\"\n};\n",
     .verdicts = "invalid compile_failed"},
    {"the references of the problem", "#include \"reference.cu\"\n",
     .verdicts = "invalid compile_failed ok"},
    {"a file of PTX", NULL, "asm volatile(\".file 1 \\\"/etc/passwd\\\"\");",
     .verdicts = "compile_failed ok invalid"},
    {"an external function of PTX", NULL,
     "asm volatile(\"{ .extern .func system; call system; }\");",
     .verdicts = "compile_failed invalid launch_failed"},
    {"included bytes of PTX", NULL, "asm volatile(\".incbin \\\"/etc/passwd\\\";\");",
     .verdicts = "compile_failed invalid"},
    {"an external variable", "extern __device__ int of_another_module;\n",
     "if (of_another_module) return;", .verdicts = "ok"},
    {"a call of the host", "extern \"C\" int system(const char *);\n", "system(\"id\");",
     .verdicts = "compile_failed invalid"},
    {"memory of the device", NULL, "if (threadIdx.x == 0) free(malloc(1 << 20));",
     .verdicts = "compile_failed launch_failed crashed invalid ok"},
    {"a launch of its own", "__global__ void more() {}\n", "more<<<1, 1>>>();",
     .verdicts = "compile_failed invalid"},
    {"a flood of output", NULL,
     "for (int n = 0; n < 100000; n++) printf(\"evotile: a false line %d\\n\", n);",
     .verdicts = "ok crashed timeout launch_failed compile_failed"},
    {"an endless loop", NULL, "while (true) __threadfence();", .verdicts = TIMED_OUT},
    {"memory of the host", NULL, "*(volatile int *)0x7fff00000000ull = 1;",
     .verdicts = "crashed wrote_outside launch_failed"},
    {"all of memory", NULL,
     "for (long long n = 0; n < 1ll << 40; n += 1 << 20) ((volatile char *)z)[n] = 1;",
     .verdicts = "crashed wrote_outside timeout wrong"},
    {"endless templates",
     "template <int N> struct more { static const int value = more<N + 1>::value; };\n"
     "__device__ int taken = more<0>::value;\n",
     .verdicts = "compile_failed crashed timeout"},
    {"an endless constant",
     "constexpr int count(int n) { int all = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; "
     "j++) all ^= i * j; return all; }\n__device__ int taken = count(1 << 30);\n",
     .verdicts = "compile_failed crashed timeout ok"},
    {"a large array", "__device__ int taken[1 << 28] = {1};\n",
     .verdicts = "compile_failed crashed timeout launch_failed"},
    {"a file that includes itself", .file = "more.inc", .text = "#include \"more.inc\"\n",
     .in_kernel = "#include \"more.inc\"\n", .verdicts = "invalid"},
    {"a folder of includes", NULL, .option = "-I/etc", .verdicts = "invalid"},
    {"a file before the source", NULL, .option = "--pre-include=/etc/passwd",
     .verdicts = "invalid"},
    {"a file of options", NULL, .option = "@/etc/passwd", .verdicts = "invalid"},
    {"a file of time traces", NULL, .option = "--time=/tmp/served", .verdicts = "invalid"},
    {"an option in a definition", NULL, .option = "-DX=1 -I/etc", .verdicts = "invalid"},
    {"a terminal's escapes", "#error \033[2J\033]0;taken\007\n",
     .verdicts = "compile_failed invalid"},
    {"another problem", NULL, .file = "problem.json", .text = "{}", .verdicts = "ok"},
    {"a reference of its own", NULL, .file = "reference.cu", .text = "#error taken\n",
     .verdicts = "ok"},
    {"a name of the judge's", "extern \"C\" __global__ void evotile_compare() {}\n",
     .verdicts = "ok"},
    {"a mark of the judge's", "extern \"C\" __device__ unsigned long long evotile_genome = 1;\n",
     .verdicts = "compile_failed"},
    {"a solution.json that never ends", NULL, .file = "solution.json", .text = "[[[[[[[[[[[[[[[[",
     .verdicts = "invalid"},
};

/* A copy of the text with every /etc/passwd in it replaced by the path of the secret. */
static char *with_secret(const char *text) {
    static const char was[] = "/etc/passwd";
    char *copy = calloc(1, 4 * strlen(text) + sizeof secret_path), *to = copy;
    const char *at;
    for (; (at = strstr(text, was)) != NULL; text = at + sizeof was - 1)
        to += sprintf(to, "%.*s%s", (int)(at - text), text, secret_path);
    strcpy(to, text);
    return copy;
}

static void replace_text(cJSON *item, const char *text) {
    char *changed = with_secret(text);
    cJSON_SetValuestring(item, changed);
    free(changed);
}

/* The solution "loop" with what the attempt adds. */
static cJSON *attempted(const struct attempt *attempt) {
    char named[1024];
    cJSON *solution = changed_solution("z[i] =", "z[i] =");
    cJSON *files = cJSON_GetObjectItem(solution, "files");
    cJSON *kernel = cJSON_GetObjectItem(files, "kernel.cu");
    char changed[4096];
    const char *text = kernel->valuestring, *function = strstr(text, "extern \"C\"");
    const char *body = strchr(function, '{') + 1;
    snprintf(named, sizeof named, "%s", attempt->in_kernel != NULL ? attempt->in_kernel : "");
    snprintf(changed, sizeof changed, "%.*s%s%.*s\n%s%s", (int)(function - text), text, named,
             (int)(body - function), function, attempt->in_body != NULL ? attempt->in_body : "",
             body);
    replace_text(kernel, changed);
    if (attempt->file != NULL) {
        cJSON_DeleteItemFromObjectCaseSensitive(files, attempt->file);
        cJSON_AddStringToObject(files, attempt->file, attempt->text);
    }
    if (attempt->option != NULL) {
        cJSON *description = cJSON_GetObjectItem(files, "solution.json");
        const char *at = strstr(description->valuestring, "\"source\"");
        assert_non_null(at);
        snprintf(changed, sizeof changed, "%.*s\"options\": [{ \"option\": \"%s\" }],\n  %s",
                 (int)(at - description->valuestring), description->valuestring, attempt->option,
                 at);
        replace_text(description, changed);
    }
    return solution;
}

static bool allows(const char *verdicts, const char *got) {
    const char *at = strstr(verdicts, got);
    size_t length = strlen(got);
    return at != NULL && (at == verdicts || at[-1] == ' ') &&
           (at[length] == ' ' || at[length] == '\0');
}

/* Nothing of the host's files, and no control characters. */
static void expect_clean(const struct attempt *attempt, const cJSON *answer) {
    char *text = cJSON_PrintUnformatted(answer);
    if (strstr(text, secret) != NULL || strstr(text, "evotile-serve") != NULL ||
        strstr(text, "\\u001b") != NULL || strstr(text, "\\u0007") != NULL)
        fail_msg("%s: the answer shows %.2000s", attempt->what, text);
    free(text);
}

static void is_contained(void **state) {
    const struct attempt *attempt = *state;
    static const char *const levels[] = {"static", "device"};
    for (int i = 0; i < 2; i++) {
        const cJSON *answer = answer_to(evaluate(attempted(attempt), levels[i], NULL));
        const char *verdict = member(answer, "verdict")->valuestring;
        printf("%s, %s: %s: %.100s\n", attempt->what, levels[i], verdict,
               member(answer, "reason")->valuestring);
        bool asks = strncmp(attempt->what, "a test for a file", 17) == 0;
        if (asks && (sandbox_available() & SANDBOX_FILES) == 0)
            continue; /* this kernel has no Landlock: the compiler says that the file is there */
        if (!allows(attempt->verdicts, verdict) && !(i == 0 && strcmp(verdict, "ok") == 0))
            fail_msg("%s: %s (%s), but must be %s", attempt->what, verdict,
                     member(answer, "reason")->valuestring, attempt->verdicts);
        expect_clean(attempt, answer);
    }
    const cJSON *answer =
        answer_to(evaluate(changed_solution("THREADS", "THREADS"), "static", "BLOCKS=2"));
    expect_text(answer, "verdict", "ok");
}

int main(void) {
    enum { COUNT = sizeof attempts / sizeof *attempts };
    struct CMUnitTest tests[COUNT];
    if (getenv("EVOTILE_LONG") == NULL) /* the large array fills 4 GB else, in 13 s of CPU more */
        setenv("EVOTILE_COMPILE_MB", "1000", 0);
    FILE *file = fdopen(mkstemp(secret_path), "w");
    if (file == NULL || fputs(secret, file) < 0 || fclose(file) != 0)
        return 1;
    for (int i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){.name = attempts[i].what,
                                       .test_func = is_contained,
                                       .initial_state = (void *)&attempts[i]};
    int failed =
        _cmocka_run_group_tests("attempts to break out", tests, COUNT, start_judge, stop_judge);
    unlink(secret_path);
    return failed > 0;
}
