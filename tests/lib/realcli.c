/* realcli.c: see realcli.h. */
#include "realcli.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "realserver.h"
#include "test.h"

#define ARGS_MAX 64
#define KEPT_MAX 4096

static char *kept[KEPT_MAX];
static size_t kept_count;

static char *keep(char *text) {
    assert_true(kept_count < KEPT_MAX);
    return kept[kept_count++] = text;
}

void realcli_make(struct realcli *r) {
    *r = (struct realcli){.data = "/tmp/reeve-cli-XX"
                                  "XX"
                                  "XX"};
    assert_non_null(mkdtemp(r->data));
}

void realcli_up(struct realcli *r) {
    (void)realcli_ok(r, "up --detach --listen 127.0.0.1:0 --slots 4", NULL);
}

void realcli_stop(struct realcli *r) {
    char command[256];
    (void)realcli_run(r, "down", NULL, NULL);
    snprintf(command, sizeof command, "rm -rf %s", r->data);
    assert_int_equal(system(command), 0);
    while (kept_count > 0) free(kept[--kept_count]);
}

static char *slurp(FILE *f) {
    long len = (fflush(f), fseek(f, 0, SEEK_END), ftell(f));
    char *text = calloc(1, (size_t)len + 1);
    rewind(f);
    if (fread(text, 1, (size_t)len, f) != (size_t)len) fail_msg("a short read");
    fclose(f);
    return keep(text);
}

/* Splits at blanks; returns how many. The texts are kept. */
static int split(const char *args, const char *text, char **argv) {
    char *copy = keep(strdup(args)), *save = NULL;
    int count = 0;
    for (char *a = strtok_r(copy, " ", &save); a != NULL; a = strtok_r(NULL, " ", &save)) {
        assert_true(count < ARGS_MAX - 4);
        argv[count++] = strcmp(a, "%s") == 0 ? keep(strdup(text)) : a;
    }
    return count;
}

/* Where the flags may stand: behind the words of the verb. */
static int verb_words(char **argv, int count) {
    for (uint32_t i = 0; count > 1 && i < cli_verb_count; i++) {
        char words[64];
        snprintf(words, sizeof words, "%s %s", argv[0], argv[1]);
        if (strcmp(cli_verbs[i].words, words) == 0) return 2;
    }
    return 1;
}

struct ran realcli_run(struct realcli *r, const char *args, const char *text, const char *input) {
    char *given[ARGS_MAX] = {NULL}, *argv[ARGS_MAX] = {(char *)(uintptr_t)realserver_binary()};
    int count = split(args, text, given), words = verb_words(given, count), n = 1, status = 0;
    for (int i = 0; i < words && i < count; i++) argv[n++] = given[i];
    if (strcmp(given[0], "help") != 0) {
        argv[n++] = (char *)(uintptr_t) "--data";
        argv[n++] = r->data;
    }
    for (int i = words; i < count; i++) argv[n++] = given[i];
    FILE *out = tmpfile(), *err = tmpfile(), *in = tmpfile();
    assert_true(out != NULL && err != NULL && in != NULL);
    if (input != NULL) fputs(input, in);
    fflush(in);
    rewind(in);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fileno(in), 0);
        dup2(fileno(out), 1);
        dup2(fileno(err), 2);
        unsetenv("REEVE_SERVER");
        unsetenv("REEVE_CONTEXT");
        alarm(60);
        execv(argv[0], argv);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    fclose(in);
    return (struct ran){WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(out), slurp(err)};
}

struct ran realcli_ok(struct realcli *r, const char *args, const char *text) {
    struct ran ran = realcli_run(r, args, text, NULL);
    if (ran.exit_code != 0) fail_msg("reeve %s: exit %d: %s%s", args, ran.exit_code, ran.out, ran.err);
    return ran;
}

void realcli_refused(struct realcli *r, const char *args, int exit_code, const char *said) {
    struct ran ran = realcli_run(r, args, NULL, NULL);
    if (ran.exit_code != exit_code)
        fail_msg("reeve %s: exit %d, not %d: %s%s", args, ran.exit_code, exit_code, ran.out, ran.err);
    if (strstr(ran.err, said) == NULL) fail_msg("reeve %s says: %s\n  not: %s", args, ran.err, said);
}

const char *realcli_file(struct realcli *r, const char *name, const char *text) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", r->data, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

const char *realcli_submit(struct realcli *r, const char *text, const char *flags) {
    static char id[64];
    char args[256];
    snprintf(args, sizeof args, "submit %%s %s", flags);
    struct ran ran = realcli_ok(r, args, realcli_file(r, "flow.yaml", text));
    snprintf(id, sizeof id, "%.*s", (int)strcspn(ran.out, " \n"), ran.out);
    return id;
}

const char *realcli_at(const char *args, const char *id) {
    char text[512];
    size_t len = 0;
    for (; *args != 0; args++) {
        assert_true(len + strlen(id) + 1 < sizeof text);
        if (*args == '@')
            len += (size_t)snprintf(text + len, sizeof text - len, "%s", id);
        else
            text[len++] = *args;
    }
    text[len] = 0;
    return keep(strdup(text));
}

/* ---- for a whole program ---- */

struct realcli realcli_group;

int realcli_group_setup(void **state) {
    (void)state;
    realcli_make(&realcli_group);
    realcli_up(&realcli_group);
    return 0;
}

int realcli_group_teardown(void **state) {
    (void)state;
    realcli_stop(&realcli_group);
    return 0;
}
