#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "device/numa.h"

static char sysfs[PATH_SIZE];

static void write_file(const char *name, const char *text) {
    char path[2 * PATH_SIZE];
    struct error error = {0};
    snprintf(path, sizeof path, "%s/%s", sysfs, name);
    *strrchr(path, '/') = '\0';
    assert_int_equal(path_make_folder(path, &error), 0);
    path[strlen(path)] = '/';
    assert_int_equal(path_write_file(path, text, strlen(text), &error), 0);
}

static int make(void **state) {
    (void)state;
    snprintf(sysfs, sizeof sysfs, "%s/numa.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    return mkdtemp(sysfs) == NULL;
}

static int remove_it(void **state) {
    (void)state;
    return path_remove_tree(sysfs, &(struct error){0});
}

/* Returns how many CPU cores a child may use after it pinned itself; -1: it was not pinned. */
static int pinned(const char *bus_id) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        cpu_set_t set;
        bool done = numa_pin(sysfs, bus_id);
        _exit(!done ? 255 : sched_getaffinity(0, sizeof set, &set) < 0 ? 254 : CPU_COUNT(&set));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
}

static void stays_on_the_processors_of_its_node(void **state) {
    (void)state;
    cpu_set_t set;
    char list[64];
    int one = 0;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    while (!CPU_ISSET(one, &set))
        one++;
    write_file("bus/pci/devices/0000:1a:00.0/numa_node", "1\n");
    snprintf(list, sizeof list, "%d,1022-1023\n", one); /* the other cores are not allowed */
    write_file("devices/system/node/node1/cpulist", list);
    assert_int_equal(pinned("0000:1A:00.0"), 1);
    int last = CPU_SETSIZE - 1;
    while (!CPU_ISSET(last, &set))
        last--;
    snprintf(list, sizeof list, "0-%d\n", last); /* a range includes its end */
    write_file("devices/system/node/node1/cpulist", list);
    assert_int_equal(pinned("0000:1a:00.0"), CPU_COUNT(&set));
    write_file("devices/system/node/node1/cpulist", "0-1023\n");
    assert_int_equal(pinned("0000:1a:00.0"), CPU_COUNT(&set));
}

static void stays_free_where_the_system_does_not_say(void **state) {
    (void)state;
    assert_int_equal(pinned("0000:1b:00.0"), -1); /* no such device */
    write_file("bus/pci/devices/0000:1b:00.0/numa_node", "-1\n");
    assert_int_equal(pinned("0000:1b:00.0"), -1);
    write_file("bus/pci/devices/0000:1b:00.0/numa_node", "7\n"); /* no such node */
    assert_int_equal(pinned("0000:1b:00.0"), -1);
    write_file("devices/system/node/node7/cpulist", "\n");
    assert_int_equal(pinned("0000:1b:00.0"), -1);
    write_file("devices/system/node/node7/cpulist", "1023\n");
    assert_int_equal(pinned("0000:1b:00.0"), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stays_on_the_processors_of_its_node, make, remove_it),
        cmocka_unit_test_setup_teardown(stays_free_where_the_system_does_not_say, make, remove_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
