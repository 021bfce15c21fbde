#include "base/file_kind.h"

#include <string.h>
#include <sys/stat.h>

bool file_is_special(const char *path) {
    struct stat status;
    return strncmp(path, "/dev/", strlen("/dev/")) != 0 &&
           strncmp(path, "/proc/", strlen("/proc/")) != 0 && stat(path, &status) == 0 &&
           !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}
