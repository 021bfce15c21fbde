#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/npy.h"
#include "base/path.h"

/* Builds a file of version 1 with that dictionary and so many bytes behind it. */
static size_t build(char *file, const char *dictionary, size_t bytes) {
    size_t length = strlen(dictionary);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (char)(length & 0xff), file[9] = (char)(length >> 8);
    memcpy(file + 10, dictionary, length);
    for (size_t i = 0; i < bytes; i++)
        file[10 + length + i] = (char)i;
    return 10 + length + bytes;
}

static void files_of_numpy_are_read(void **state) {
    (void)state;
    static const struct {
        const char *dictionary;
        char kind;
        int size, rank;
        int64_t extents[3];
        int64_t elements;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", 'f', 4, 2, {2, 3}, 6},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }\n", 'i', 8, 1, {3}, 3},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }\n", 'f', 8, 0, {0}, 1},
        {"{'descr': '|b1', 'fortran_order': True, 'shape': (5,), }\n", 'b', 1, 1, {5}, 5},
        {"{\"shape\": (0, 9), \"descr\": \"|u1\", \"fortran_order\": False}", 'u', 1, 2, {0, 9}, 0},
        {"{'descr': '|V2', 'fortran_order': False, 'shape': (1, 2, 2)}", 'V', 2, 3, {1, 2, 2}, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct npy array;
        struct error error = {0};
        char file[400];
        size_t bytes = (size_t)cases[i].elements * (size_t)cases[i].size;
        size_t size = build(file, cases[i].dictionary, bytes);
        assert_int_equal(npy_parse(&array, "x.npy", file, size, &error), 0);
        assert_int_equal(array.kind, cases[i].kind);
        assert_int_equal(array.size, cases[i].size);
        assert_int_equal(array.rank, cases[i].rank);
        assert_memory_equal(array.extents, cases[i].extents, sizeof cases[i].extents);
        assert_int_equal(array.elements, cases[i].elements);
        assert_ptr_equal(array.data, file + size - bytes);
    }
}

static void what_cannot_be_read_says_how_to_write_it(void **state) {
    (void)state;
    static const struct {
        const char *dictionary, *message;
        size_t bytes;
    } cases[] = {
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }",
         "x.npy: dtype >f4 is big-endian: save .astype('<f4')", 4},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }",
         "x.npy: its elements are in columns: save numpy.ascontiguousarray(x)", 8},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "x.npy: dtype |O cannot", 8},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "x.npy: dtype <c8 cannot", 8},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }", "x.npy: dtype <f16", 16},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
         "x.npy: its header is not that of one array", 4},
        {"{'descr': '<f4', 'shape': (1,), }", "x.npy: its header is not", 4},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
         "x.npy: its header is not", 4},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } x", "x.npy: its header is", 4},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "x.npy: its header is", 4},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }",
         "x.npy: its header is not that of one array of numbers with at most 8 dimensions", 4},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
         "x.npy: 20 bytes follow its header, which are not those of <f4 (2, 3)", 20},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
         "x.npy: 28 bytes follow its header", 28},
        /* products that overflow */
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
         "x.npy: 0 bytes follow its header", 0},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,), }",
         "x.npy: 0 bytes follow its header", 0},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }",
         "x.npy: its header is not", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct npy array;
        struct error error = {0};
        char file[400];
        size_t size = build(file, cases[i].dictionary, cases[i].bytes);
        assert_int_equal(npy_parse(&array, "x.npy", file, size, &error), -1);
        assert_int_equal(error.kind, ERROR_INPUT);
        if (strncmp(error.text, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s\nis not\n%s", error.text, cases[i].message);
    }
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    char file[400];
    struct npy array;
    size_t size = build(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24);
    for (size_t cut = 0; cut < size; cut++) {
        struct error error = {0};
        assert_int_equal(npy_parse(&array, "x.npy", file, cut, &error), -1);
    }
}

static void what_is_written_is_read(void **state) {
    (void)state;
    const double numbers[6] = {1, -2, 0.5, 1e300, 5, 6};
    struct npy written = {
        .kind = 'f', .size = 8, .rank = 2, .extents = {3, 2}, .elements = 6, .data = numbers};
    struct npy read;
    struct error error = {0};
    char path[PATH_SIZE], text[NPY_SHAPE_SIZE];
    size_t size;
    snprintf(path, sizeof path, "%s/x.npy", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    assert_int_equal(npy_write_file(path, &written, &error), 0);
    char *bytes = path_read_file(path, 1 << 20, &size, &error);
    assert_non_null(bytes);
    assert_int_equal(npy_parse(&read, path, bytes, size, &error), 0);
    npy_print(&read, text);
    assert_string_equal(text, "<f8 (3, 2)");
    assert_memory_equal(read.data, numbers, sizeof numbers);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_numpy_are_read),
        cmocka_unit_test(what_cannot_be_read_says_how_to_write_it),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(what_is_written_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
