#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int report_holder(int file, const char *run_dir, struct error *error) {
    char holder[256];
    ssize_t length = pread(file, holder, sizeof holder - 1, 0);
    holder[length > 0 ? length : 0] = '\0';
    holder[strcspn(holder, "\n")] = '\0';
    if (holder[0] == '\0') /* the holder has not written its name yet */
        strcpy(holder, "another process");
    return error_set(
        error,
        "the run %s is open for writing in %s; wait for it to end, or stop it, and try "
        "again",
        run_dir, holder);
}

int lock_acquire(struct lock *lock, const char *run_dir, struct error *error) {
    lock->file = -1;
    if (path_join(lock->path, run_dir, "run.lock", error) < 0)
        return -1;
    for (;;) {
        int file = open(lock->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (file < 0)
            return error_set(
                error, "cannot write in %s: %s; change its permissions, or use another folder",
                run_dir, strerror(errno));
        if (flock(file, LOCK_EX | LOCK_NB) < 0) {
            int number = errno;
            if (number == EWOULDBLOCK)
                report_holder(file, run_dir, error);
            else
                error_set(error, "cannot lock %s: %s; use a folder on a local disk", lock->path,
                          strerror(number));
            close(file);
            return -1;
        }
        /* The previous holder may have removed the file between open and flock: then this lock is
           on a deleted file and excludes no other process. */
        struct stat locked_file, path_file;
        if (fstat(file, &locked_file) < 0 || stat(lock->path, &path_file) < 0 ||
            locked_file.st_ino != path_file.st_ino || locked_file.st_dev != path_file.st_dev) {
            close(file);
            continue;
        }
        char host[128] = "", holder[256];
        gethostname(host, sizeof host - 1);
        int length = snprintf(holder, sizeof holder, "process %ld on %s\n", (long)getpid(), host);
        /* If the disk is full, only the name in the error message is missing: the lock still holds.
         */
        if (ftruncate(file, 0) < 0 || pwrite(file, holder, (size_t)length, 0) < 0)
            errno = 0;
        lock->file = file;
        return 0;
    }
}

void lock_release(struct lock *lock) {
    if (lock->file < 0)
        return;
    unlink(lock->path); /* while it is locked: see the check in lock_acquire */
    close(lock->file);
    lock->file = -1;
}
