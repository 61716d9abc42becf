/*
 * Loaded into a process before its C library, this counts the calls that touch paths that begin with FAULT_ROOT and, at the
 * call number FAULT_AT, does what FAULT_KIND says: "kill" ends the process before the call, "torn" lets a write take half
 * of its bytes and then ends the process, "short" lets a write take half of its bytes and say so, and a number lets the
 * call fail with that errno (a write after half of its bytes are on the disk). FAULT_FOREVER lets every later call of the
 * same name fail too. FAULT_READS counts the calls that only read as well. Each call is written to FAULT_LOG, if that is
 * set: its name, its path and what else it was given, with tabs between; bytes in hexadecimal.
 *
 * A process talks to it by making folders below /.fault/: "mark/<text>" writes the text to the log, "arm/<at>/<kind>" and
 * "arm/<at>/<kind>/forever" count anew and set the fault, "hold" lets every call pass from then on, "met" succeeds if the
 * fault was met, and "disarm" forgets it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { GO = 0, TORN = -1, SHORT = -2 };

static pthread_mutex_t gate = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static const char *root = NULL;
static size_t root_length = 0;
static int log_file = -1;
static int reads = 0;
static long counted = 0;
static long at = 0;
static char kind[16] = "";
static int forever = 0;
static int met = 0;
static int holds = 0;
static char met_name[16] = "";
static __thread char path_buffer[PATH_MAX];

#define ORIGINAL(name) __typeof__(&name) original = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static void set_fault(long number, const char *what, int stays) {
  at = number;
  snprintf(kind, sizeof kind, "%s", what);
  forever = stays;
  counted = 0;
  met = 0;
  holds = 0;
}

__attribute__((constructor)) static void begin(void) {
  ORIGINAL(open64);
  root = getenv("FAULT_ROOT");
  root_length = root == NULL ? 0 : strlen(root);
  reads = getenv("FAULT_READS") != NULL;
  const char *log = getenv("FAULT_LOG");
  if (log != NULL) log_file = original(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const char *number = getenv("FAULT_AT");
  const char *what = getenv("FAULT_KIND");
  if (number != NULL && what != NULL) set_fault(atol(number), what, getenv("FAULT_FOREVER") != NULL);
}

static int inside(const char *path) {
  return root != NULL && path != NULL && strncmp(path, root, root_length) == 0;
}

static const char *path_of(int fd) {
  ORIGINAL(readlink);
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = original(link, path_buffer, sizeof path_buffer - 1);
  path_buffer[length < 0 ? 0 : length] = 0;
  return path_buffer;
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static void say(const char *text, size_t length) {
  ORIGINAL(write);
  while (length > 0) {
    ssize_t taken = original(log_file, text, length);
    if (taken <= 0) die();
    text += taken;
    length -= taken;
  }
}

static void record(const char *name, const char *path, const char *more) {
  if (log_file < 0) return;
  char line[3 * PATH_MAX];
  int length = snprintf(line, sizeof line, "%s\t%s\t%s\n", name, path, more);
  say(line, length);
}

/* A write's offset, then its bytes. */
static void record_bytes(const char *path, off_t offset, const unsigned char *bytes, size_t length) {
  if (log_file < 0) return;
  static const char digits[] = "0123456789abcdef";
  char *line = malloc(PATH_MAX + 64 + 2 * length);
  int start = snprintf(line, PATH_MAX + 64, "write\t%s\t", path);
  char *to = line + start;
  for (size_t index = 0; index < length; index++) {
    *to++ = digits[bytes[index] >> 4];
    *to++ = digits[bytes[index] & 15];
  }
  to += sprintf(to, "\t%lld\n", (long long)offset);
  say(line, to - line);
  free(line);
}

/* 0: go on. Otherwise the errno to fail with, or TORN or SHORT for a write. */
static int fault(const char *name) {
  counted += 1;
  int again = met && forever && strcmp(met_name, name) == 0;
  if (at == 0 || holds || (counted != at && !again)) return GO;
  met = 1;
  snprintf(met_name, sizeof met_name, "%s", name);
  if (strcmp(kind, "kill") == 0) die();
  int writes = strcmp(name, "write") == 0;
  if (strcmp(kind, "torn") == 0) return writes ? TORN : GO;
  if (strcmp(kind, "short") == 0) return writes ? SHORT : GO;
  return atoi(kind);
}

static const char *number(long value) {
  static __thread char digits[32];
  snprintf(digits, sizeof digits, "%ld", value);
  return digits;
}

/* One call at a time: what the log says is the order in which the calls were made. */
#define CALL(label, path, more, result, call)             \
  if (!inside(path)) return call;                         \
  pthread_mutex_lock(&gate);                              \
  record(label, path, more);                              \
  int code = fault(label);                                \
  __typeof__(call) result = (__typeof__(call))-1;         \
  if (code <= 0) result = call;                           \
  int reason = code > 0 ? code : errno;                   \
  pthread_mutex_unlock(&gate);                            \
  errno = reason;                                         \
  return result;

static int open_inside(int (*original)(const char *, int, ...), const char *path, int flags, mode_t mode) {
  const char *label = (flags & O_TRUNC) ? "overwrite" : (flags & O_CREAT) ? "create" : "open";
  CALL(label, path, number(mode), result, original(path, flags, mode))
}

#define DEFINE_OPEN(name)                                        \
  int name(const char *path, int flags, ...) {                   \
    ORIGINAL(name);                                              \
    va_list list;                                                \
    va_start(list, flags);                                       \
    mode_t mode = (flags & O_CREAT) ? va_arg(list, mode_t) : 0;  \
    va_end(list);                                                \
    return open_inside(original, path, flags, mode);             \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

static off_t offset_of(int fd) {
  struct stat info;
  if ((fcntl(fd, F_GETFL) & O_APPEND) && fstat(fd, &info) == 0) return info.st_size;
  return lseek(fd, 0, SEEK_CUR);
}

typedef ssize_t (*put_bytes)(int, const void *, size_t, off_t);

static ssize_t put_here(int fd, const void *bytes, size_t length, off_t offset) {
  (void)offset;
  ORIGINAL(write);
  return original(fd, bytes, length);
}

static ssize_t put_there(int fd, const void *bytes, size_t length, off_t offset) {
  ORIGINAL(pwrite64);
  return original(fd, bytes, length, offset);
}

static ssize_t write_inside(put_bytes put, int fd, const void *bytes, size_t length, off_t offset) {
  record_bytes(path_of(fd), offset, bytes, length);
  int code = fault("write");
  if (code == GO || (code == SHORT && length < 2)) return put(fd, bytes, length, offset);
  ssize_t half = length > 1 && counted == at ? put(fd, bytes, length / 2, offset) : 0;
  if (code == TORN) die();
  if (code == SHORT) return half;
  errno = code;
  return -1;
}

#define WRITE(put, fd, bytes, length, offset)                               \
  pthread_mutex_lock(&gate);                                                \
  ssize_t result = write_inside(put, fd, bytes, length, offset);            \
  int reason = errno;                                                       \
  pthread_mutex_unlock(&gate);                                              \
  errno = reason;                                                           \
  return result;

ssize_t write(int fd, const void *bytes, size_t length) {
  if (!inside(path_of(fd))) return put_here(fd, bytes, length, 0);
  WRITE(put_here, fd, bytes, length, offset_of(fd))
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  if (!inside(path_of(fd))) return put_there(fd, bytes, length, offset);
  WRITE(put_there, fd, bytes, length, offset)
}

/* Written part by part, as a process may be killed between them. */
static ssize_t write_parts(int fd, const struct iovec *parts, int count) {
  ssize_t total = 0;
  for (int index = 0; index < count; index++) {
    ssize_t taken = write(fd, parts[index].iov_base, parts[index].iov_len);
    if (taken < 0) return total > 0 ? total : -1;
    total += taken;
    if ((size_t)taken < parts[index].iov_len) break;
  }
  return total;
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  ORIGINAL(writev);
  return inside(path_of(fd)) ? write_parts(fd, parts, count) : original(fd, parts, count);
}

#define DEFINE_FD(name)                                       \
  int name(int fd) {                                          \
    ORIGINAL(name);                                           \
    CALL(#name, path_of(fd), "", result, original(fd))        \
  }
DEFINE_FD(fsync)
DEFINE_FD(fdatasync)

int ftruncate64(int fd, off64_t length) {
  ORIGINAL(ftruncate64);
  CALL("ftruncate", path_of(fd), number(length), result, original(fd, length))
}
int ftruncate(int fd, off_t length) {
  ORIGINAL(ftruncate);
  CALL("ftruncate", path_of(fd), number(length), result, original(fd, length))
}
int fchmod(int fd, mode_t mode) {
  ORIGINAL(fchmod);
  CALL("chmod", path_of(fd), number(mode), result, original(fd, mode))
}
int chmod(const char *path, mode_t mode) {
  ORIGINAL(chmod);
  CALL("chmod", path, number(mode), result, original(path, mode))
}
int fchown(int fd, uid_t user, gid_t group) {
  ORIGINAL(fchown);
  CALL("chown", path_of(fd), number(user), result, original(fd, user, group))
}
int futimens(int fd, const struct timespec times[2]) {
  ORIGINAL(futimens);
  CALL("times", path_of(fd), "", result, original(fd, times))
}
int utimensat(int folder, const char *path, const struct timespec times[2], int flags) {
  ORIGINAL(utimensat);
  CALL("times", path, "", result, original(folder, path, times, flags))
}
int rmdir(const char *path) {
  ORIGINAL(rmdir);
  CALL("rmdir", path, "", result, original(path))
}
int unlink(const char *path) {
  ORIGINAL(unlink);
  CALL("unlink", path, "", result, original(path))
}
int rename(const char *from, const char *to) {
  ORIGINAL(rename);
  CALL("rename", to, from, result, original(from, to))
}
int link(const char *from, const char *to) {
  ORIGINAL(link);
  CALL("link", to, from, result, original(from, to))
}
int symlink(const char *target, const char *path) {
  ORIGINAL(symlink);
  CALL("symlink", path, target, result, original(target, path))
}

static int order(const char *words) {
  char what[16] = "";
  long number = 0;
  if (strncmp(words, "mark/", 5) == 0) {
    record("mark", "", words + 5);
    return 0;
  }
  if (strcmp(words, "met") == 0) {
    errno = ENOENT;
    return met ? 0 : -1;
  }
  if (strcmp(words, "hold") == 0) {
    holds = 1;
    return 0;
  }
  if (sscanf(words, "arm/%ld/%15[^/]", &number, what) == 2) set_fault(number, what, strstr(words, "/forever") != NULL);
  else set_fault(0, "", 0);
  return 0;
}

int mkdir(const char *path, mode_t mode) {
  ORIGINAL(mkdir);
  if (root != NULL && strncmp(path, "/.fault/", 8) == 0) {
    pthread_mutex_lock(&gate);
    int result = order(path + 8);
    pthread_mutex_unlock(&gate);
    return result;
  }
  CALL("mkdir", path, number(mode), result, original(path, mode))
}

#define READ(path, result, call)      \
  if (!reads) return call;            \
  CALL("read", path, "", result, call)

ssize_t read(int fd, void *bytes, size_t length) {
  ORIGINAL(read);
  READ(path_of(fd), result, original(fd, bytes, length))
}
ssize_t pread64(int fd, void *bytes, size_t length, off64_t offset) {
  ORIGINAL(pread64);
  READ(path_of(fd), result, original(fd, bytes, length, offset))
}
ssize_t readlink(const char *path, char *bytes, size_t length) {
  ORIGINAL(readlink);
  READ(path, result, original(path, bytes, length))
}
int scandir64(const char *path, struct dirent64 ***names, int (*select)(const struct dirent64 *),
              int (*compare)(const struct dirent64 **, const struct dirent64 **)) {
  ORIGINAL(scandir64);
  READ(path, result, original(path, names, select, compare))
}
