#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pool/image_file.h"

static const char name[] = "kernel.cu";

static const struct device_image sent[CASES_MAX] = {
    [0] = {name, "\0cubin\n\0", 8, ".version 8.0", "ptxas info"},
    [2] = {name, "x", 1, "", "", "k<2>\n_Z1kILi2EEvv\n"},
    [CASES_MAX - 1] = {name, "last", 4, NULL, NULL},
};

static void release(struct device_image images[CASES_MAX]) {
    for (int c = 0; c < CASES_MAX; c++)
        nvrtc_image_release(&images[c]);
}

static void check(const struct device_image images[CASES_MAX]) {
    for (int c = 0; c < CASES_MAX; c++) {
        if (sent[c].cubin == NULL) {
            assert_null(images[c].cubin);
            continue;
        }
        assert_ptr_equal(images[c].name, name);
        assert_int_equal(images[c].cubin_bytes, sent[c].cubin_bytes);
        assert_memory_equal(images[c].cubin, sent[c].cubin, sent[c].cubin_bytes);
        assert_string_equal(images[c].ptx, sent[c].ptx != NULL ? sent[c].ptx : "");
        assert_string_equal(images[c].log, sent[c].log != NULL ? sent[c].log : "");
        assert_string_equal(images[c].kernels, sent[c].kernels != NULL ? sent[c].kernels : "");
    }
}

/* One process writes the file, another reads it; the third, which made it, has it open. */
static void images_pass_between_processes(void **state) {
    (void)state;
    struct error error = {0};
    struct device_image images[CASES_MAX];
    char path[IMAGE_FILE_PATH_SIZE];
    int file = image_file_new();
    assert_true(file >= 0);
    image_file_path(file, path);
    for (int turn = 0; turn < 2; turn++) {
        int status;
        pid_t writer = fork();
        if (writer == 0) {
            close(file);
            _exit(image_file_write(path, sent, &error) < 0);
        }
        assert_int_equal(waitpid(writer, &status, 0), writer);
        assert_int_equal(status, 0);
        assert_int_equal(image_file_read(path, name, images, &error), 0);
        check(images);
        release(images);
    }
    close(file);
    assert_int_equal(image_file_read(path, name, images, &error), -1);
    assert_non_null(strstr(error.text, path));
}

static void damaged_file_is_rejected(void **state) {
    (void)state;
    struct error error = {0};
    struct device_image images[CASES_MAX];
    struct stat whole;
    char path[IMAGE_FILE_PATH_SIZE];
    int file = image_file_new();
    image_file_path(file, path);
    assert_int_equal(image_file_write(path, sent, &error), 0);
    assert_int_equal(fstat(file, &whole), 0);
    int accepted = 0;
    for (off_t bytes = whole.st_size; bytes-- > 0;) {
        assert_int_equal(ftruncate(file, bytes), 0);
        if (image_file_read(path, name, images, &error) == 0) {
            accepted++; /* it was cut between two images */
            release(images);
        }
    }
    assert_int_equal(accepted, 2);
    /* A length and a case beyond all bounds. */
    const uint64_t headers[][4] = {{0, UINT64_MAX, 0, 0}, {CASES_MAX, 0, 0, 0}, {0, 0, 1, 0}};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        assert_int_equal(pwrite(file, headers[i], sizeof headers[i], 0), sizeof headers[i]);
        assert_int_equal(ftruncate(file, sizeof headers[i]), 0);
        assert_int_equal(image_file_read(path, name, images, &error), -1);
    }
    close(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_pass_between_processes),
        cmocka_unit_test(damaged_file_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
