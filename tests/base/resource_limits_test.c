#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/resource_limits.h"

static char root[PATH_SIZE];

static void write_file(const char *name, const char *text) {
    char path[2 * PATH_SIZE];
    struct error error = {0};
    snprintf(path, sizeof path, "%s/%s", root, name);
    *strrchr(path, '/') = '\0';
    assert_int_equal(path_make_folder(path, &error), 0);
    path[strlen(path)] = '/';
    assert_int_equal(path_write_file(path, text, strlen(text), &error), 0);
}

static int make(void **state) {
    (void)state;
    snprintf(root, sizeof root, "%s/share.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    return mkdtemp(root) == NULL;
}

static int remove_it(void **state) {
    (void)state;
    return path_remove_tree(root, &(struct error){0});
}

static void a_machine_without_groups_is_ours(void **state) {
    (void)state;
    struct resource_limits share = resource_limits_read(root);
    assert_true(share.cores >= 1);
    assert_true(share.memory_bytes > 1 << 20);
    write_file("proc/self/cgroup", "0::/job\n");
    write_file("sys/fs/cgroup/job/cpu.max", "max 100000\n");
    write_file("sys/fs/cgroup/job/memory.max", "max\n");
    struct resource_limits same = resource_limits_read(root);
    assert_int_equal(same.cores, share.cores);
    assert_true(same.memory_bytes == share.memory_bytes);
}

/* The test machine may have only two cores; a quota below one core counts as one. */
static void the_tightest_group_above_holds(void **state) {
    (void)state;
    write_file("proc/self/cgroup", "0::/job/step/task\n");
    write_file("sys/fs/cgroup/job/cpu.max", "50000 100000\n");
    write_file("sys/fs/cgroup/job/memory.max", "900000\n");
    write_file("sys/fs/cgroup/job/step/memory.max", "700000\n");
    write_file("sys/fs/cgroup/job/step/task/memory.max", "800000\n");
    struct resource_limits share = resource_limits_read(root);
    assert_int_equal(share.cores, 1);
    assert_true(share.memory_bytes == 700000);
}

static void version_1_has_a_tree_each(void **state) {
    (void)state;
    write_file("proc/self/cgroup", "4:memory:/batch\n2:cpu,cpuacct:/batch\nno group\n0::/\n");
    write_file("sys/fs/cgroup/memory/batch/memory.limit_in_bytes", "600000\n");
    write_file("sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_quota_us", "150000\n");
    write_file("sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_period_us", "150000\n");
    struct resource_limits share = resource_limits_read(root);
    assert_int_equal(share.cores, 1);
    assert_true(share.memory_bytes == 600000);
    write_file("sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_quota_us", "-1\n");
    write_file("sys/fs/cgroup/memory/batch/memory.limit_in_bytes", "9223372036854771712\n");
    share = resource_limits_read(root);
    assert_int_equal(share.cores, resource_limits_read("/nowhere").cores);
    assert_true(share.memory_bytes == resource_limits_read("/nowhere").memory_bytes);
}

/* A container sees the limits of its own group at the root. */
static void an_unseen_group_is_the_root(void **state) {
    (void)state;
    write_file("proc/self/cgroup", "0::/docker/0abe28\n");
    write_file("sys/fs/cgroup/memory.max", "500000\n");
    assert_true(resource_limits_read(root).memory_bytes == 500000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_machine_without_groups_is_ours, make, remove_it),
        cmocka_unit_test_setup_teardown(the_tightest_group_above_holds, make, remove_it),
        cmocka_unit_test_setup_teardown(version_1_has_a_tree_each, make, remove_it),
        cmocka_unit_test_setup_teardown(an_unseen_group_is_the_root, make, remove_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
