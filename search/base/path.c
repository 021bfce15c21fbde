#include "base/path.h"

#include "base/file_kind.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

int path_join(char joined[PATH_SIZE], const char *folder, const char *name, struct error *error) {
    bool alone = name[0] == '/' || folder[0] == '\0';
    size_t before = alone ? 0 : strlen(folder);
    bool slash = !alone && folder[before - 1] != '/';
    size_t length = strlen(name);
    if (before + slash + length >= PATH_SIZE)
        return error_set(error, "the path %.60s.../%.60s has more than %d bytes: use shorter names",
                         folder, name, PATH_SIZE - 1);
    memmove(joined + before + slash, name, length + 1); /* first: `joined` may be `name` */
    memmove(joined, folder, before);
    if (slash)
        joined[before] = '/';
    return 0;
}

const char *path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

int path_parent(char parent[PATH_SIZE], const char *path, struct error *error) {
    size_t length = (size_t)(path_name(path) - path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length == 0) {
        strcpy(parent, ".");
        return 0;
    }
    if (length >= PATH_SIZE)
        return error_set(error, "the path %.60s... has more than %d bytes: use shorter names", path,
                         PATH_SIZE - 1);
    memmove(parent, path, length);
    parent[length] = '\0';
    return 0;
}

bool path_exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}

bool path_is_dir(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool path_is_replaceable(const char *path) {
    struct stat status;
    return lstat(path, &status) < 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
}

/* Formats the error of a failed system call: the operation, the reason and the remedy. */
static int system_error(struct error *error, int error_number, const char *what, const char *path) {
    const char *remedy = "check the path";
    switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        remedy = "free some space there, or choose another folder";
        break;
    case EACCES:
    case EPERM:
        remedy = "change its permissions, or choose another path";
        break;
    case EROFS:
        remedy = "that file system is read-only: choose another folder";
        break;
    case EMFILE:
    case ENFILE:
        remedy = "raise the limit of open files (ulimit -n)";
        break;
    case EIO:
    case ESTALE:
        remedy = "check the disk, or choose another folder";
        break;
    default:
        break;
    }
    return error_set(error, "cannot %s %s: %s; %s", what, path, strerror(error_number), remedy);
}

/* A sparse file can claim to be larger than any memory. */
#define FILE_BYTES_MAX ((size_t)1 << 30)

char *path_read_file(const char *path, size_t limit_bytes, size_t *size, struct error *error) {
    char *text = NULL;
    size_t length = 0, capacity = 0;
    if (limit_bytes > FILE_BYTES_MAX)
        limit_bytes = FILE_BYTES_MAX;
    if (file_is_special(path)) {
        error_input(error, FILE_IS_SPECIAL, path);
        return NULL;
    }
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        system_error(error, errno, "read", path);
        return NULL;
    }
    struct stat status;
    if (fstat(file, &status) == 0) {
        if (S_ISDIR(status.st_mode)) {
            error_set(error, "cannot read %s: it is a folder; give a file", path);
            goto failed;
        }
        if (status.st_size > 0 && (uintmax_t)status.st_size > limit_bytes)
            goto too_large;
        capacity = status.st_size > 0 ? (size_t)status.st_size : 0;
    }
    /* Read until end of file without relying on st_size: pipes and files in /proc report 0. */
    for (;;) {
        if (text == NULL || length == capacity) {
            capacity = text != NULL ? (capacity < 4096 ? 8192 : capacity * 2) : capacity + 1;
            text = xrealloc(text, capacity + 1);
        }
        ssize_t count = read(file, text + length, capacity - length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            system_error(error, errno, "read", path);
            goto failed;
        }
        if (count == 0)
            break;
        length += (size_t)count;
        if (length > limit_bytes)
            goto too_large;
    }
    close(file);
    text[length] = '\0';
    if (size != NULL)
        *size = length;
    return text;
too_large:
    error_set(error, "%s has more than %zu bytes: it is not a file of this kind", path,
              limit_bytes);
failed:
    close(file);
    free(text);
    return NULL;
}

static int write_all(int file, const void *bytes, size_t size) {
    const char *from = bytes;
    while (size > 0) {
        ssize_t count = write(file, from, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -1;
        from += count;
        size -= (size_t)count;
    }
    return 0;
}

static int write_in_place(const char *path, mode_t mode, const void *bytes, size_t size,
                          struct error *error) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    int error_number = file < 0 || write_all(file, bytes, size) < 0 ? errno : 0;
    if (file >= 0 && close(file) < 0 && error_number == 0)
        error_number = errno;
    return error_number != 0 ? system_error(error, error_number, "write", path) : 0;
}

static int write_file(const char *path, const void *bytes, size_t size, bool durable,
                      struct error *error) {
    char folder[PATH_SIZE], temporary[PATH_SIZE];
    if (!path_is_replaceable(path))
        return write_in_place(path, 0666, bytes, size, error);
    if (path_parent(folder, path, error) < 0)
        return -1;
    /* A hidden name that is not in use: pid and time make it unique, and O_EXCL detects a
       collision. */
    int file;
    do {
        struct timespec time;
        clock_gettime(CLOCK_REALTIME, &time);
        char name[NAME_MAX + 1];
        snprintf(name, sizeof name, ".%.180s.%ld.%lx", path_name(path), (long)getpid(),
                 (unsigned long)time.tv_nsec);
        if (path_join(temporary, folder, name, error) < 0)
            return -1;
        file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (file < 0 && errno == EEXIST);
    if (file < 0)
        return system_error(error, errno, "write", path);

    int error_number = 0;
    if (write_all(file, bytes, size) < 0 || (durable && fsync(file) < 0))
        error_number = errno;
    /* Keep the permissions of the replaced file; failure to do so is not an error. */
    struct stat old;
    if (!error_number && stat(path, &old) == 0 && fchmod(file, old.st_mode & 0777) < 0)
        errno = 0;
    if (close(file) < 0 && !error_number) /* NFS reports a full disk here */
        error_number = errno;
    if (!error_number && rename(temporary, path) < 0)
        error_number = errno;
    if (error_number) {
        unlink(temporary);
        return system_error(error, error_number, "write", path);
    }
    if (durable) { /* syncs the rename; a file system that does not support this does not need it */
        int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (directory >= 0) {
            fsync(directory);
            close(directory);
        }
    }
    return 0;
}

int path_write_file(const char *path, const void *bytes, size_t size, struct error *error) {
    return write_file(path, bytes, size, true, error);
}

int path_write_unsynced(const char *path, const void *bytes, size_t size, struct error *error) {
    return write_file(path, bytes, size, false, error);
}

int path_make_folder(const char *folder, struct error *error) {
    char path[PATH_SIZE];
    if (path_join(path, "", folder, error) < 0)
        return -1;
    if (path[0] == '\0') /* the current folder */
        return 0;
    for (char *end = path + 1;; end++) {
        char last = *end;
        if (last != '/' && last != '\0')
            continue;
        *end = '\0';
        /* errno alone is not enough: for an existing parent mkdir may report EROFS rather than
           EEXIST. */
        int error_number = mkdir(path, 0777) < 0 ? errno : 0;
        if (error_number != 0 && !path_is_dir(path))
            return system_error(error, error_number == EEXIST ? ENOTDIR : error_number,
                                "make the folder", path);
        if (last == '\0')
            return 0;
        *end = last;
        if (end[1] == '\0')
            return 0;
    }
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int path_link(const char *folder, const char *name, const char *target, struct error *error) {
    char path[PATH_SIZE];
    if (path_join(path, folder, name, error) < 0)
        return -1;
    if (symlink(target, path) == 0 || errno == EEXIST)
        return 0;
    return error_set(error, "cannot link %s: %s", path, strerror(errno));
}

int path_list(const char *folder, char ***names, int *count, struct error *error) {
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return system_error(error, errno, "read the folder", folder);
    char **list = NULL;
    size_t length = 0;
    struct dirent *entry;
    while (errno = 0, (entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        list = xgrow(list, length, sizeof *list);
        list[length++] = xstrdup(entry->d_name);
    }
    int error_number = errno;
    closedir(directory);
    if (error_number) {
        path_list_free(list, (int)length);
        return system_error(error, error_number, "read the folder", folder);
    }
    if (length > 0)
        qsort(list, length, sizeof *list, compare_names);
    *names = list;
    *count = (int)length;
    return 0;
}

void path_list_free(char **names, int count) {
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static int copy_file(const char *from, const char *to, mode_t mode, struct error *error) {
    size_t size;
    char *bytes = path_read_file(from, SIZE_MAX - 1, &size, error);
    int result = bytes != NULL ? write_in_place(to, mode & 0777, bytes, size, error) : -1;
    free(bytes);
    return result;
}

/* `depth` limits recursion, because a link may lead back to a parent folder. */
static int copy_tree(const char *from, const char *to, int depth, struct error *error) {
    struct stat status;
    if (stat(from, &status) < 0)
        return system_error(error, errno, "read", from);
    if (S_ISREG(status.st_mode))
        return copy_file(from, to, status.st_mode, error);
    if (!S_ISDIR(status.st_mode))
        return error_set(error, "cannot copy %s: it is neither a file nor a folder; remove it",
                         from);
    if (depth == 0)
        return error_set(
            error,
            "cannot copy %s: its folders are nested too deep; remove links that form a cycle",
            from);
    char **names;
    int count, result = 0;
    /* List the names first: `to` may be inside `from`, and must not be copied into itself. */
    if (path_list(from, &names, &count, error) < 0)
        return -1;
    if (path_make_folder(to, error) < 0)
        result = -1;
    for (int i = 0; i < count && result == 0; i++) {
        char source[PATH_SIZE], target[PATH_SIZE];
        if (path_join(source, from, names[i], error) < 0 ||
            path_join(target, to, names[i], error) < 0 ||
            copy_tree(source, target, depth - 1, error) < 0)
            result = -1;
    }
    path_list_free(names, count);
    return result;
}

int path_copy_files(const char *from, const char *to, const char *except, struct error *error) {
    char **names;
    int count, result = 0;
    if (path_make_folder(to, error) < 0 || path_list(from, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && result == 0; i++) {
        char source[PATH_SIZE], target[PATH_SIZE];
        if (except != NULL && strcmp(names[i], except) == 0)
            continue;
        if (path_join(source, from, names[i], error) < 0 ||
            path_join(target, to, names[i], error) < 0)
            result = -1;
        else if (!path_is_dir(source))
            result = copy_tree(source, target, 0, error);
    }
    path_list_free(names, count);
    return result;
}

int path_copy_tree(const char *from, const char *to, struct error *error) {
    return copy_tree(from, to, 32, error);
}

int path_remove_tree(const char *folder, struct error *error) {
    const char *name = path_name(folder);
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        BUG("asked to remove the folder \"%s\"", folder);
    struct stat status;
    if (lstat(folder, &status) < 0)
        return errno == ENOENT ? 0 : system_error(error, errno, "remove", folder);
    if (!S_ISDIR(status.st_mode))
        return unlink(folder) < 0 ? system_error(error, errno, "remove", folder) : 0;
    char **names;
    int count, result = 0;
    if (path_list(folder, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && result == 0; i++) {
        char path[PATH_SIZE];
        if (path_join(path, folder, names[i], error) < 0 || path_remove_tree(path, error) < 0)
            result = -1;
    }
    path_list_free(names, count);
    if (result == 0 && rmdir(folder) < 0)
        result = system_error(error, errno, "remove", folder);
    return result;
}

const char *path_network_filesystem(const char *path) {
    /* Constants without a name in linux/magic.h are from statfs(2) and from the file systems'
       sources. FUSE counts as a network: where runs are stored, FUSE means sshfs, s3fs and the
       like, and its locks are unreliable. */
    static const struct {
        uint32_t magic;
        const char *name;
    } systems[] = {
        {NFS_SUPER_MAGIC, "NFS"},   {SMB_SUPER_MAGIC, "SMB"}, {CIFS_SUPER_MAGIC, "CIFS"},
        {SMB2_SUPER_MAGIC, "SMB"},  {V9FS_MAGIC, "9p"},       {FUSE_SUPER_MAGIC, "FUSE"},
        {AFS_SUPER_MAGIC, "AFS"},   {AFS_FS_MAGIC, "AFS"},    {CODA_SUPER_MAGIC, "Coda"},
        {CEPH_SUPER_MAGIC, "Ceph"}, {0x0BD00BD0, "Lustre"},   {0x47504653, "GPFS"},
        {0x19830326, "BeeGFS"},     {0x01161970, "GFS2"},     {OCFS2_SUPER_MAGIC, "OCFS2"},
        {0xAAD7AAEA, "PanFS"},      {0x786F4256, "vboxsf"},   {0xBACBACBC, "vmhgfs"},
        {NCP_SUPER_MAGIC, "NCP"},   {0x20030528, "PVFS"},     {0x6E736673, "WekaFS"},
    };
    struct statfs status;
    if (statfs(path, &status) < 0)
        return NULL;
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++)
        if ((uint32_t)status.f_type == systems[i].magic)
            return systems[i].name;
    return NULL;
}

int path_program(char program[PATH_SIZE], struct error *error) {
    ssize_t length = readlink("/proc/self/exe", program, PATH_SIZE - 1);
    if (length < 0)
        return error_set(error, "cannot find our own program: %s", strerror(errno));
    program[length] = '\0';
    return 0;
}

int path_program_folder(char folder[PATH_SIZE], struct error *error) {
    char program[PATH_SIZE];
    return path_program(program, error) < 0 ? -1 : path_parent(folder, program, error);
}
