/*
 * Loaded into a process before its C library, this counts the calls that touch what lies below FAULT_ROOT and, at the
 * call number FAULT_AT, does what FAULT_KIND says: "kill" ends the process before the call, "torn" lets a write take half
 * of its bytes and then ends the process, and a number lets the call fail with that errno (a write after half of its bytes
 * are on the disk). FAULT_FOREVER lets every later call of the same name fail too. Without FAULT_AT nothing happens but
 * that each call is written to FAULT_LOG.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static long counted = 0;
static int failing = 0;
static char failing_name[32];

static int inside(const char *path) {
  const char *root = getenv("FAULT_ROOT");
  return root != NULL && path != NULL && strncmp(path, root, strlen(root)) == 0;
}

static int inside_fd(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return inside(path);
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static void record(const char *name) {
  const char *log = getenv("FAULT_LOG");
  if (log == NULL) return;
  FILE *(*original)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");
  FILE *file = original(log, "a");
  if (file == NULL) return;
  fprintf(file, "%s\n", name);
  fclose(file);
}

/* 0: go on. Otherwise the errno to fail with, or -1 for a torn write. */
static int fault(const char *name) {
  counted += 1;
  record(name);
  const char *at = getenv("FAULT_AT");
  const char *kind = getenv("FAULT_KIND");
  if (at == NULL || kind == NULL) return 0;
  int due = counted == atol(at) || (failing && strcmp(failing_name, name) == 0);
  if (!due) return 0;
  if (strcmp(kind, "kill") == 0) die();
  if (strcmp(kind, "torn") == 0) return strcmp(name, "write") == 0 ? -1 : 0;
  if (getenv("FAULT_FOREVER") != NULL) {
    failing = 1;
    snprintf(failing_name, sizeof failing_name, "%s", name);
  }
  return atoi(kind);
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define FAIL_IF(condition, label)        \
  if (condition) {                       \
    int code = fault(label);             \
    if (code > 0) {                      \
      errno = code;                      \
      return -1;                         \
    }                                    \
  }

#define DEFINE_OPEN(name)                                        \
  int name(const char *path, int flags, ...) {                   \
    REAL(name);                                                  \
    va_list list;                                                \
    va_start(list, flags);                                       \
    mode_t mode = (flags & O_CREAT) ? va_arg(list, mode_t) : 0;  \
    va_end(list);                                                \
    FAIL_IF(inside(path) && (flags & O_CREAT), "create")         \
    FAIL_IF(inside(path) && !(flags & O_CREAT), "open")          \
    return real(path, flags, mode);                              \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

static ssize_t half_of(ssize_t (*real)(int, const void *, size_t), int fd, const void *bytes, size_t length) {
  return length > 1 ? real(fd, bytes, length / 2) : 0;
}

ssize_t write(int fd, const void *bytes, size_t length) {
  REAL(write);
  if (inside_fd(fd)) {
    int code = fault("write");
    if (code == -1) {
      half_of(real, fd, bytes, length);
      die();
    }
    if (code > 0) {
      if (counted == atol(getenv("FAULT_AT"))) half_of(real, fd, bytes, length);
      errno = code;
      return -1;
    }
  }
  return real(fd, bytes, length);
}

#define DEFINE_FD(name, label)                \
  int name(int fd) {                          \
    REAL(name);                               \
    FAIL_IF(inside_fd(fd), label)             \
    return real(fd);                          \
  }
DEFINE_FD(fsync, "fsync")
DEFINE_FD(fdatasync, "fdatasync")

int ftruncate64(int fd, off64_t length) {
  REAL(ftruncate64);
  FAIL_IF(inside_fd(fd), "ftruncate")
  return real(fd, length);
}
int ftruncate(int fd, off_t length) {
  REAL(ftruncate);
  FAIL_IF(inside_fd(fd), "ftruncate")
  return real(fd, length);
}
int fchmod(int fd, mode_t mode) {
  REAL(fchmod);
  FAIL_IF(inside_fd(fd), "fchmod")
  return real(fd, mode);
}
int chmod(const char *path, mode_t mode) {
  REAL(chmod);
  FAIL_IF(inside(path), "chmod")
  return real(path, mode);
}
int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  FAIL_IF(inside(path), "mkdir")
  return real(path, mode);
}
int rmdir(const char *path) {
  REAL(rmdir);
  FAIL_IF(inside(path), "rmdir")
  return real(path);
}
int unlink(const char *path) {
  REAL(unlink);
  FAIL_IF(inside(path), "unlink")
  return real(path);
}
int rename(const char *from, const char *to) {
  REAL(rename);
  FAIL_IF(inside(to), "rename")
  return real(from, to);
}
int link(const char *from, const char *to) {
  REAL(link);
  FAIL_IF(inside(to), "link")
  return real(from, to);
}
int symlink(const char *target, const char *path) {
  REAL(symlink);
  FAIL_IF(inside(path), "symlink")
  return real(target, path);
}
