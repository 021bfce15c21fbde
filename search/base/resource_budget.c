#include "base/resource_budget.h"

#include "base/resource_limits.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
enum { LIMITS_MEMORY = 0 };
#else
enum { LIMITS_MEMORY = 1 };
#endif

enum { MEMORY_MB_MAX = 4096, CPU_S = 60 };

static volatile sig_atomic_t is_active;
static int64_t active_bytes; /* 0: its memory is not limited */
static struct rlimit data_before, cpu_before;

static int64_t setting(const char *name, int64_t otherwise) {
    const char *text = getenv(name);
    char *end;
    long long value = text != NULL ? strtoll(text, &end, 10) : 0;
    return value > 0 && *end == '\0' && value < INT32_MAX ? value : otherwise;
}

struct resource_budget resource_budget_default(void) {
    int64_t quarter_mb = resource_limits_read("").memory_bytes / 4 >> 20;
    return (struct resource_budget){
        .memory_bytes =
            setting("EVOTILE_COMPILE_MB", quarter_mb < MEMORY_MB_MAX ? quarter_mb : MEMORY_MB_MAX)
            << 20,
        .cpu_s = (int)setting("EVOTILE_COMPILE_SECONDS", CPU_S),
    };
}

/* The memory that RLIMIT_DATA counts: proc(5), /proc/pid/statm, the sixth field. -1: unknown. */
static int64_t data_bytes(void) {
    long long pages = -1;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return -1;
    if (fscanf(file, "%*d %*d %*d %*d %*d %lld", &pages) != 1)
        pages = -1;
    fclose(file);
    return pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
}

static void lower_soft_limit(int resource, rlim_t limit, struct rlimit *before) {
    if (getrlimit(resource, before) < 0 || before->rlim_cur <= limit)
        return;
    const struct rlimit lower = {.rlim_cur = limit, .rlim_max = before->rlim_max};
    setrlimit(resource, &lower);
}

void resource_budget_begin(const struct resource_budget *budget) {
    struct timespec used;
    int64_t data = LIMITS_MEMORY && budget->memory_bytes > 0 ? data_bytes() : -1;
    active_bytes = 0;
    getrlimit(RLIMIT_DATA, &data_before);
    getrlimit(RLIMIT_CPU, &cpu_before);
    if (data >= 0) {
        lower_soft_limit(RLIMIT_DATA, (rlim_t)(data + budget->memory_bytes), &data_before);
        active_bytes = budget->memory_bytes;
    }
    if (budget->cpu_s > 0 && clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0)
        lower_soft_limit(RLIMIT_CPU, (rlim_t)(used.tv_sec + 1 + budget->cpu_s), &cpu_before);
    is_active = 1;
}

void resource_budget_end(void) {
    is_active = 0;
    setrlimit(RLIMIT_DATA, &data_before);
    setrlimit(RLIMIT_CPU, &cpu_before);
}

bool resource_budget_is_active(void) {
    return is_active;
}

bool resource_budget_memory_is_spent(void) {
    if (!is_active || active_bytes == 0)
        return false;
    size_t half = (size_t)active_bytes / 2;
    void *memory = mmap(NULL, half, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return true;
    munmap(memory, half);
    return false;
}
