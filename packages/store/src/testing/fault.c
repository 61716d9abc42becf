/*
 * Loaded into a process before its C library, this counts the calls that touch what lies below FAULT_ROOT and, at the
 * call number FAULT_AT, does what FAULT_KIND says: "kill" ends the process before the call, "torn" lets a write take half
 * of its bytes and then ends the process, and a number lets the call fail with that errno (a write after half of its bytes
 * are on the disk). FAULT_FOREVER lets every later call of the same name fail too. Each call is written to FAULT_LOG, if
 * that is set: its name, its path and what else it was given, with tabs between; bytes in hexadecimal.
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

static const char *path_of(int fd) {
  static char path[PATH_MAX];
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = 0;
  return path;
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static FILE *open_log(void) {
  const char *log = getenv("FAULT_LOG");
  FILE *(*original)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");
  return log == NULL ? NULL : original(log, "a");
}

static void record_bytes(const char *path, const unsigned char *bytes, size_t length) {
  FILE *file = open_log();
  if (file == NULL) return;
  fprintf(file, "write\t%s\t", path);
  for (size_t at = 0; at < length; at++) fprintf(file, "%02x", bytes[at]);
  fprintf(file, "\n");
  fclose(file);
}

static void record(const char *name, const char *path, const char *more) {
  FILE *file = open_log();
  if (file == NULL) return;
  fprintf(file, "%s\t%s\t%s\n", name, path, more);
  fclose(file);
}

/* 0: go on. Otherwise the errno to fail with, or -1 for a torn write. */
static int fault(const char *name) {
  counted += 1;
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

static const char *number(long value) {
  static char digits[32];
  snprintf(digits, sizeof digits, "%ld", value);
  return digits;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define MEET(label, path, more)      \
  if (inside(path)) {                \
    record(label, path, more);       \
    int code = fault(label);         \
    if (code > 0) {                  \
      errno = code;                  \
      return -1;                     \
    }                                \
  }

#define DEFINE_OPEN(name)                                        \
  int name(const char *path, int flags, ...) {                   \
    REAL(name);                                                  \
    va_list list;                                                \
    va_start(list, flags);                                       \
    mode_t mode = (flags & O_CREAT) ? va_arg(list, mode_t) : 0;  \
    va_end(list);                                                \
    MEET((flags & O_CREAT) ? "create" : "open", path, number(mode)) \
    return real(path, flags, mode);                              \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

ssize_t write(int fd, const void *bytes, size_t length) {
  REAL(write);
  const char *path = path_of(fd);
  if (inside(path)) {
    record_bytes(path, bytes, length);
    int code = fault("write");
    if (code != 0 && length > 1 && counted == atol(getenv("FAULT_AT"))) real(fd, bytes, length / 2);
    if (code == -1) die();
    if (code > 0) {
      errno = code;
      return -1;
    }
  }
  return real(fd, bytes, length);
}

#define DEFINE_FD(name)               \
  int name(int fd) {                  \
    REAL(name);                       \
    MEET(#name, path_of(fd), "")      \
    return real(fd);                  \
  }
DEFINE_FD(fsync)
DEFINE_FD(fdatasync)

int ftruncate64(int fd, off64_t length) {
  REAL(ftruncate64);
  MEET("ftruncate", path_of(fd), number(length))
  return real(fd, length);
}
int ftruncate(int fd, off_t length) {
  REAL(ftruncate);
  MEET("ftruncate", path_of(fd), number(length))
  return real(fd, length);
}
int fchmod(int fd, mode_t mode) {
  REAL(fchmod);
  MEET("chmod", path_of(fd), number(mode))
  return real(fd, mode);
}
int chmod(const char *path, mode_t mode) {
  REAL(chmod);
  MEET("chmod", path, number(mode))
  return real(path, mode);
}
int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  MEET("mkdir", path, number(mode))
  return real(path, mode);
}
int rmdir(const char *path) {
  REAL(rmdir);
  MEET("rmdir", path, "")
  return real(path);
}
int unlink(const char *path) {
  REAL(unlink);
  MEET("unlink", path, "")
  return real(path);
}
int rename(const char *from, const char *to) {
  REAL(rename);
  MEET("rename", to, from)
  return real(from, to);
}
int link(const char *from, const char *to) {
  REAL(link);
  MEET("link", to, from)
  return real(from, to);
}
int symlink(const char *target, const char *path) {
  REAL(symlink);
  MEET("symlink", path, target)
  return real(target, path);
}
