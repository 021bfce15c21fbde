/* Accesses that flush memory traps on a real GPU: reads beyond a tensor, and writes to a
   read-only one. Each runs in a child process, because it loses the context. */
#include "evaluate/verify_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

enum { REFUSED = 100 };

static const char probe_source[] = "extern \"C\" __global__ void probe(volatile char *tensor, long "
                                   "long at, char *out, int write) {\n"
                                   "    char kept = tensor[at];\n"
                                   "    *out = kept;\n"
                                   "    if (write)\n"
                                   "        tensor[at] = kept;\n"
                                   "}\n";

enum rights { WRITABLE, READ_ONLY, WRITABLE_AGAIN };

struct probe {
    size_t bytes;
    bool at_end;
    int64_t at; /* the byte to read and, if `write`, to write back */
    bool write;
    enum rights rights;
};

/* Exits with the verdict, or with REFUSED. */
static void probe_in_child(const struct probe *probe) {
    struct verify_fixture verify_fixture;
    struct error error = {0};
    char reason[REASON_SIZE];
    uint64_t tensor;
    uint64_t out;
    int32_t write = probe->write;
    verify_fixture_open(&verify_fixture, "cuda:0");
    verify_fixture_compile(&verify_fixture, strdup(probe_source), NULL, &verify_fixture.candidate);
    const struct device_backend *backend = verify_fixture.device->backend;
    if (backend->memory_new_flush(verify_fixture.device, "tensor", probe->bytes,
                                  probe->at_end ? 16 : 0, &tensor, &error) < 0 ||
        backend->memory_new(verify_fixture.device, "out", 1, &out, &error) < 0)
        _exit(REFUSED);
    for (int i = WRITABLE; i < (int)probe->rights; i++)
        if (backend->protect(verify_fixture.device, tensor, i == WRITABLE, &error) != 1)
            _exit(REFUSED);
    struct device_sequence sequence = {.count = 1};
    struct device_launch *launch = &sequence.launches[0];
    *launch =
        (struct device_launch){.module = verify_fixture.candidate,
                               .kernel = "probe",
                               .grid = {1, 1, 1},
                               .block = {1, 1, 1},
                               .argument_count = 4,
                               .arguments = {{.size = 8}, {.size = 8}, {.size = 8}, {.size = 4}}};
    memcpy(launch->arguments[0].bytes, &tensor, 8);
    memcpy(launch->arguments[1].bytes, &probe->at, 8);
    memcpy(launch->arguments[2].bytes, &out, 8);
    memcpy(launch->arguments[3].bytes, &write, 4);
    _exit((int)backend->run(verify_fixture.device, &sequence, 5, reason));
}

static int run_probe(struct probe probe) {
    int status;
    pid_t child = fork();
    if (child == 0)
        probe_in_child(&probe);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void reads_beyond_are_trapped(void **state) {
    (void)state;
    static const size_t sizes[] = {16, 4096, 3000000, 2 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t bytes = sizes[i];
        assert_int_equal(run_probe((struct probe){.bytes = bytes}), VERDICT_OK);
        assert_int_equal(run_probe((struct probe){.bytes = bytes, .at = -1}), VERDICT_CRASHED);
        assert_int_equal(
            run_probe((struct probe){.bytes = bytes, .at_end = true, .at = (int64_t)bytes - 1}),
            VERDICT_OK);
        assert_int_equal(
            run_probe((struct probe){.bytes = bytes, .at_end = true, .at = (int64_t)bytes}),
            VERDICT_CRASHED);
    }
}

static void writes_to_read_only_inputs_are_trapped(void **state) {
    (void)state;
    struct probe probe = {.bytes = 4096, .write = true};
    assert_int_equal(run_probe(probe), VERDICT_OK);
    probe.rights = READ_ONLY;
    int result = run_probe(probe);
    if (result == REFUSED) {
        printf("read-only: the driver has no read-only mappings of device memory\n");
        skip();
    }
    printf("read-only: a write is %s, ", verdict_name((enum verdict)result));
    assert_int_equal(result, VERDICT_CRASHED);
    probe.write = false;
    assert_int_equal(run_probe(probe), VERDICT_OK);
    probe.write = true;
    probe.rights = WRITABLE_AGAIN;
    assert_int_equal(run_probe(probe), VERDICT_OK);
    printf("a read is ok, a write is ok after write access is restored\n");
}

int main(void) {
    /* The driver must not be used here: children of a process that initialised it cannot use it. */
    struct device_info info;
    struct error error = {0};
    if (device_describe("cuda:0", &info, &error) < 0) {
        printf("skipped: %s\n", error.text);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_beyond_are_trapped),
        cmocka_unit_test(writes_to_read_only_inputs_are_trapped),
    };
    return cmocka_run_group_tests_name("flush memory on a GPU", tests, NULL, NULL);
}
