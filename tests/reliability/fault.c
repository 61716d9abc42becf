/*
 * A library loaded before the C library of the program under test. It numbers, from 1, the calls with which a node
 * process changes something below FAULT_ROOT, and at the one FAULT_AT names does what FAULT_KIND says:
 *
 *   kill     SIGKILL before the call is made
 *   torn     as kill, but a write first puts half of its bytes down
 *   stop     SIGSTOP before the call is made, which then goes on
 *   <errno>  the call fails with this number and does nothing (a write puts half of its bytes down, where it has two)
 *
 * Other programs, such as the shell and git, are left alone. With FAULT_LOG every numbered call is appended to that file
 * as "<name> <path>".
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

enum { GO_ON = 0, TEAR = -1 };

static int number;
static int watched = -1;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int is_watched_program(void) {
  if (watched < 0) {
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length < 0 ? 0 : length] = 0;
    const char *base = strrchr(program, '/');
    watched = base != NULL && strncmp(base, "/node", 5) == 0;
  }
  return watched;
}

static int is_below_root(const char *path) {
  const char *root = getenv("FAULT_ROOT");
  if (root == NULL || path == NULL) return 0;
  size_t length = strlen(root);
  return strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static const char *path_of(int file, char *space) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, space, PATH_MAX - 1);
  space[length < 0 ? 0 : length] = 0;
  return space;
}

static void note(const char *name, const char *path) {
  const char *log = getenv("FAULT_LOG");
  if (log == NULL) return;
  char row[PATH_MAX + 64];
  int length = snprintf(row, sizeof row, "%s %s\n", name, path);
  int file = REAL(open)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (REAL(write)(file, row, length) < 0) abort();
  close(file);
}

static void send_self(int signal_number) {
  kill(getpid(), signal_number);
}

/* What the call is to do: go on, tear, or fail with the number returned. */
static int meet(const char *name, const char *path) {
  if (!is_watched_program() || !is_below_root(path)) return GO_ON;
  number += 1;
  note(name, path);
  const char *at = getenv("FAULT_AT");
  const char *kind = getenv("FAULT_KIND");
  if (at == NULL || kind == NULL || atoi(at) != number) return GO_ON;
  if (strcmp(kind, "stop") == 0) {
    send_self(SIGSTOP);
    return GO_ON;
  }
  if (strcmp(kind, "torn") == 0 && strcmp(name, "write") == 0) return TEAR;
  if (strcmp(kind, "torn") == 0 || strcmp(kind, "kill") == 0) send_self(SIGKILL);
  return atoi(kind);
}

#define FAIL_WITH(outcome)    \
  if ((outcome) > 0) {        \
    errno = (outcome);        \
    return -1;                \
  }

ssize_t write(int file, const void *bytes, size_t length) {
  char space[PATH_MAX];
  int outcome = is_watched_program() && file > 2 ? meet("write", path_of(file, space)) : GO_ON;
  if (outcome != GO_ON && length > 1 && REAL(write)(file, bytes, length / 2) < 0) return -1;
  if (outcome == TEAR) send_self(SIGKILL);
  FAIL_WITH(outcome)
  return REAL(write)(file, bytes, length);
}

#define ON_OPEN(name)                                                        \
  int name(const char *path, int flags, ...) {                               \
    mode_t mode = 0;                                                         \
    if (flags & O_CREAT) {                                                   \
      va_list rest;                                                          \
      va_start(rest, flags);                                                 \
      mode = va_arg(rest, mode_t);                                           \
      va_end(rest);                                                          \
    }                                                                        \
    int writing = flags & (O_WRONLY | O_RDWR | O_CREAT);                     \
    int outcome = writing ? meet("open", path) : GO_ON;                      \
    FAIL_WITH(outcome)                                                       \
    return REAL(name)(path, flags, mode);                                    \
  }
ON_OPEN(open)
ON_OPEN(open64)

#define ON_FILE(name, label, parameters, arguments)                          \
  int name parameters {                                                      \
    char space[PATH_MAX];                                                    \
    int outcome = is_watched_program() ? meet(label, path_of(file, space)) : GO_ON; \
    FAIL_WITH(outcome)                                                       \
    return REAL(name) arguments;                                             \
  }
ON_FILE(fsync, "fsync", (int file), (file))
ON_FILE(fdatasync, "fsync", (int file), (file))
ON_FILE(fchmod, "chmod", (int file, mode_t mode), (file, mode))
ON_FILE(ftruncate, "truncate", (int file, off_t length), (file, length))
ON_FILE(ftruncate64, "truncate", (int file, off64_t length), (file, length))

#define ON_PATH(name, path, parameters, arguments)                           \
  int name parameters {                                                      \
    int outcome = meet(#name, path);                                         \
    FAIL_WITH(outcome)                                                       \
    return REAL(name) arguments;                                             \
  }
ON_PATH(chmod, path, (const char *path, mode_t mode), (path, mode))
ON_PATH(mkdir, path, (const char *path, mode_t mode), (path, mode))
ON_PATH(rmdir, path, (const char *path), (path))
ON_PATH(unlink, path, (const char *path), (path))
ON_PATH(rename, to, (const char *from, const char *to), (from, to))
ON_PATH(link, to, (const char *from, const char *to), (from, to))
ON_PATH(symlink, path, (const char *target, const char *path), (target, path))
