/* unpacklab.c: see unpacklab.h. */
#include "unpacklab.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realserver.h"
#include "test.h"

#define ARG_BYTES 32

/* In the directory of the lab. */
static void shell(const struct unpacklab *l, const char *command) {
    char line[512];
    snprintf(line, sizeof line, "cd %s && %s", l->dir, command);
    assert_int_equal(system(line), 0);
}

/* Everything outside the workspace: names, kinds, rights, links, bytes. */
static void outside_read(const struct unpacklab *l, char *ret, size_t size) {
    int code = test_shell(
        ret, size,
        "cd %s && find . -path ./space/work -prune -o ! -name refusal ! -name a -printf '%%p %%M %%n %%s %%T@ %%l\\n' "
        "| grep -v '^./space ' | sort && cat outside/file outside/sub/x",
        l->dir);
    assert_int_equal(code, 0);
}

void unpacklab_make(struct unpacklab *l) {
    *l = (struct unpacklab){.dir = "/tmp/reeve-unpack-XX"
                                   "XX"
                                   "XX",
                            .entry = "",
                            .folder = "",
                            .ratio = 250,
                            .entries = 1000,
                            .path = 1024,
                            .depth = 64,
                            .bytes = 64u << 20};
    assert_non_null(mkdtemp(l->dir));
    snprintf(l->archive, sizeof l->archive, "%s/space/a", l->dir);
    shell(l, "mkdir -p outside/sub space && echo secret >outside/file && echo x >outside/sub/x");
    unpacklab_fresh(l);
    outside_read(l, l->outside, sizeof l->outside);
}

void unpacklab_fresh(struct unpacklab *l) {
    shell(l, "rm -rf space/work space/refusal && mkdir space/work");
}

void unpacklab_remove(struct unpacklab *l) {
    shell(l, "rm -rf ../$(basename $PWD)");
}

static _Noreturn void child(struct unpacklab *l, int out) {
    char numbers[6][ARG_BYTES], work[96];
    const size_t values[6] = {l->strip, l->bytes, l->ratio, l->entries, l->path, l->depth};
    for (int i = 0; i < 6; i++) snprintf(numbers[i], ARG_BYTES, "%zu", values[i]);
    snprintf(work, sizeof work, "%s/space/work", l->dir);
    if (chdir(work) != 0) _exit(99);
    (void)dup2(out, STDOUT_FILENO);
    (void)dup2(out, STDERR_FILENO);
    if (l->library_path != NULL) (void)setenv("LD_LIBRARY_PATH", l->library_path, 1);
    alarm(60);
    (void)execl(realserver_binary(), "reeve", "--child-unpack", l->archive, l->entry, l->folder, numbers[0], numbers[1],
                numbers[2], numbers[3], numbers[4], numbers[5], "one", "two words", NULL);
    _exit(98);
}

int unpacklab_run(struct unpacklab *l) {
    int status = 0;
    FILE *out = tmpfile();
    assert_non_null(out);
    pid_t pid = fork();
    if (pid == 0) child(l, fileno(out));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    rewind(out);
    size_t len = fread(l->said, 1, sizeof l->said - 1, out);
    l->said[len] = 0;
    fclose(out);
    char outside[sizeof l->outside];
    outside_read(l, outside, sizeof outside);
    assert_string_equal(outside, l->outside);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
