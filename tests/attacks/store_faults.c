// Disk faults below the files of the store; tests/attacks/store_faults.rs loads it into a server.
//
// The first byte of the file in STORE_FAULT selects the result when a file of the store is synced:
// 'e' fails with EIO, 'h' hangs until the byte changes, any other byte syncs.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_of_store(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) {
        return 0;
    }
    path[length] = 0;
    return strstr(path, "/store.db") != NULL;
}

static char fault(void) {
    const char *path = getenv("STORE_FAULT");
    char byte = 0;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        if (read(fd, &byte, 1) != 1) {
            byte = 0;
        }
        close(fd);
    }
    return byte;
}

static int faulty_sync(int fd, const char *name) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    if (is_of_store(fd)) {
        while (fault() == 'h') {
            usleep(20000);
        }
        if (fault() == 'e') {
            errno = EIO;
            return -1;
        }
    }
    return real(fd);
}

int fsync(int fd) { return faulty_sync(fd, "fsync"); }

int fdatasync(int fd) { return faulty_sync(fd, "fdatasync"); }
