/* child_unpack.c: a job that is an archive. Unpacks it into the folder it starts in and becomes the program in it.
 *
 *     --child-unpack ARCHIVE ENTRY DIR STRIP BYTES RATIO ENTRIES PATH DEPTH [ARGUMENT…]
 *
 * ENTRY and DIR may be empty: the entry point is looked for (mains, below), and the folder is the one unpacked into.
 * The bytes of the archive are read by a process of its own, which has locked itself in (jail.h) and is gone before
 * anything of the archive runs. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/openat2.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "extract.h"
#include "interpreter.h"
#include "jail.h"

enum { ARG_ARCHIVE, ARG_ENTRY, ARG_DIR, ARG_STRIP, ARG_BYTES, ARG_RATIO, ARG_ENTRIES, ARG_PATH, ARG_DEPTH, ARG_COUNT };

#define HERE_MAX 1024 /* the folder we start in: SPACE_PATH_MAX */

/* ---- unpacking ---- */

static enum err unpack(const struct child_world *world, char **args, struct why *why) {
    const struct extract_limits limits = {
        .rules = {.path_bytes_max = (uint32_t)strtoul(args[ARG_PATH], NULL, 10),
                  .depth_max = (uint32_t)strtoul(args[ARG_DEPTH], NULL, 10),
                  .strip = (uint32_t)strtoul(args[ARG_STRIP], NULL, 10)},
        .bytes_max = strtoull(args[ARG_BYTES], NULL, 10),
        .ratio_max = strtoull(args[ARG_RATIO], NULL, 10),
        .entries_max = strtoull(args[ARG_ENTRIES], NULL, 10),
    };
    struct archivelib lib;
    (void)setlocale(LC_CTYPE, "C.UTF-8"); /* names in archives are converted to that of the locale */
    enum err e = archivelib_load(&lib, why);
    if (e != ERR_OK) return e;
    int archive = open(args[ARG_ARCHIVE], O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (archive < 0 || folder < 0) return why_set(why, ERR_IO, "%s", strerrordesc_np(errno));
    e = jail_enter(world->confine, limits.bytes_max, why);
    return e == ERR_OK ? extract(&lib, archive, folder, &limits, why) : e;
}

/* In a process of its own, whose words come through a pipe: it can write to nothing else of ours. */
static enum err unpack_apart(const struct child_world *world, char **args, struct why *why) {
    int pipe_fds[2], status = 0;
    if (pipe2(pipe_fds, O_CLOEXEC) != 0) return why_set(why, ERR_IO, "pipe: %s", strerrordesc_np(errno));
    pid_t pid = fork();
    if (pid == 0) {
        struct why said = {{0}};
        enum err e = unpack(world, args, &said);
        if (e != ERR_OK) (void)!write(pipe_fds[1], said.text, strlen(said.text));
        _exit(e == ERR_OK ? 0 : 1);
    }
    (void)close(pipe_fds[1]);
    ssize_t got = pid > 0 ? read(pipe_fds[0], why->text, sizeof why->text - 1) : 0; /* a sentence is one write */
    why->text[got > 0 ? got : 0] = 0;
    (void)close(pipe_fds[0]);
    if (pid < 0) return why_set(why, ERR_IO, "fork: %s", strerrordesc_np(errno));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return ERR_OK;
    if (why->text[0] == 0)
        (void)why_set(why, ERR_IO, "the unpacker died of signal %d", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return ERR_INVALID;
}

/* ---- the entry point ---- */

/* Looked for in this order, at the top of what was unpacked; behind them a jar, if there is one alone. */
static const char *const mains[] = {"main",    "run",         "main.sh", "run.sh",
                                    "main.py", "__main__.py", "main.js", "index.js"};

static bool is_file(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* "is one folder": what people forget. */
static enum err nothing_found(struct why *why) {
    glob_t all = {0};
    struct stat st;
    bool is_folder = glob("*", GLOB_NOSORT, NULL, &all) == 0 && all.gl_pathc == 1 && stat(all.gl_pathv[0], &st) == 0 &&
                     S_ISDIR(st.st_mode);
    enum err e = why_set(why, ERR_NOT_FOUND,
                         "there is no entry point in it: neither main, run, main.sh, run.sh, main.py, __main__.py, "
                         "main.js, index.js nor one .jar; name it by `entry`%s",
                         is_folder ? ", or take its only folder off by `strip: 1`" : "");
    globfree(&all);
    return e;
}

static enum err entry_find(char ret[ENTRY_PATH_MAX], struct why *why) {
    for (size_t i = 0; i < sizeof mains / sizeof mains[0]; i++) {
        if (!is_file(mains[i])) continue;
        snprintf(ret, ENTRY_PATH_MAX, "%s", mains[i]);
        return ERR_OK;
    }
    glob_t jars = {0};
    bool is_one = glob("*.jar", GLOB_NOSORT, NULL, &jars) == 0 && jars.gl_pathc == 1 && is_file(jars.gl_pathv[0]);
    if (is_one) snprintf(ret, ENTRY_PATH_MAX, "%s", jars.gl_pathv[0]);
    globfree(&jars);
    return is_one ? ERR_OK : nothing_found(why);
}

/* Links may be on the way, as long as they stay inside. */
static int open_beneath(const char *path, int flags) {
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC), .resolve = RESOLVE_BENEATH};
    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

/* Makes a program of it, where it is one by its first bytes: archives from elsewhere carry no rights. */
static enum err entry_ready(const char *path, struct why *why) {
    struct stat st;
    uint8_t begin[4] = {0};
    int fd = open_beneath(path, O_RDONLY);
    enum err e = ERR_OK;
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        e = why_set(why, ERR_NOT_FOUND, "there is no file `%s` in it, which is to be its entry point", path);
    else if (interpreter_of(slice_str(path)) == NULL) {
        bool is_read = read(fd, begin, sizeof begin) >= 2;
        if (!is_read || (memcmp(begin, "#!", 2) != 0 && memcmp(begin, "\177ELF", 4) != 0))
            e = why_set(why, ERR_INVALID, "no interpreter for `%s`: " INTERPRETER_NONE ", nor is it a program", path);
        else
            (void)fchmod(fd, st.st_mode | 0100);
    }
    if (fd >= 0) (void)close(fd);
    return e;
}

static enum err folder_enter(const char *dir, struct why *why) {
    int fd = open_beneath(dir, O_PATH | O_DIRECTORY);
    if (fd < 0 || fchdir(fd) != 0)
        return why_set(why, ERR_NOT_FOUND, "there is no folder `%s` in it, which is to be the working folder", dir);
    (void)close(fd);
    return ERR_OK;
}

/* Does not come back when all is well. `args` has room in front of it for what runs the entry. */
static enum err entry_run(const char *entry, const char *dir, char **args, struct why *why) {
    static char path[HERE_MAX + ENTRY_PATH_MAX];
    const struct interpreter *by = interpreter_of(slice_str(entry));
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), by_count = 0;
    if (here < 0 || getcwd(path, HERE_MAX) == NULL) return why_set(why, ERR_IO, "%s", strerrordesc_np(errno));
    size_t len = strlen(path);
    snprintf(path + len, sizeof path - len, "/%s", entry);
    *--args = path;
    while (by != NULL && by->argv[by_count] != NULL) by_count++;
    while (by_count > 0) *--args = (char *)(uintptr_t)by->argv[--by_count];
    enum err e = dir[0] != 0 ? folder_enter(dir, why) : ERR_OK;
    if (e != ERR_OK) return e;
    (void)execvp(args[0], args);
    e = why_set(why, ERR_IO, "cannot run %s: %s", args[0], strerrordesc_np(errno));
    (void)!fchdir(here); /* beside which the refusal goes */
    return e;
}

int child_unpack(const struct child_world *world, int count, char **args) {
    struct why why = {{0}};
    char entry[ENTRY_PATH_MAX];
    _Static_assert(ARG_COUNT > INTERPRETER_ARGS_MAX, "what runs the entry takes the place of our own arguments");
    if (count < ARG_COUNT) return child_refuse("unpack: arguments are missing");
    const char *slash = strrchr(args[ARG_ARCHIVE], '/');
    snprintf(entry, sizeof entry, "%s", args[ARG_ENTRY]);
    enum err e = unpack_apart(world, args, &why);
    if (e == ERR_OK && entry[0] == 0) e = entry_find(entry, &why);
    if (e == ERR_OK) e = entry_ready(entry, &why);
    if (e == ERR_OK) e = entry_run(entry, args[ARG_DIR], args + ARG_COUNT, &why);
    (void)why_wrap(&why, e, "%s", slash != NULL ? slash + 1 : args[ARG_ARCHIVE]);
    return child_refuse(why.text);
}
