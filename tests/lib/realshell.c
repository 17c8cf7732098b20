/* realshell.c: see realshell.h. */
#include "realshell.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define SAY_MS_MAX 20000

int realshell_run(struct realshell *h, const char *variables, const char *args) {
    const struct realserver *s = h->server;
    return test_shell(h->said, sizeof h->said, "D=%s; S=%s; R=%s; REEVE_TOKEN=%s %s timeout 30 $R %s 2>&1", s->data,
                      s->address, realserver_binary(), s->admin, variables, args);
}

void realshell_must(struct realshell *h, const char *args) {
    int code = realshell_run(h, "", args);
    if (code != 0) fail_msg("reeve %s: exit %d: %s", args, code, h->said);
}

void realshell_refused(struct realshell *h, const char *variables, const char *args, int code, const char *words) {
    int got = realshell_run(h, variables, args);
    if (got != code || strstr(h->said, words) == NULL)
        fail_msg("reeve %s: exit %d, said: %s\n  expected %d and: %s", args, got, h->said, code, words);
}

pid_t realshell_worker(struct realshell *h, const char *args) {
    char command[1024];
    snprintf(command, sizeof command, "D=%s; S=%s; exec %s worker --server $S %s >>$D/worker.log 2>&1", h->server->data,
             h->server->address, realserver_binary(), args);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid != 0) return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl("/bin/sh", "sh", "-c", command, NULL);
    _exit(127);
}

void realshell_worker_says(struct realshell *h, const char *words) {
    char path[96], text[16384];
    snprintf(path, sizeof path, "%s/worker.log", h->server->data);
    for (int i = 0; i < SAY_MS_MAX / 10; i++) {
        FILE *f = fopen(path, "re");
        size_t len = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
        text[len] = 0;
        if (f != NULL) fclose(f);
        if (strstr(text, words) != NULL) return;
        (void)poll(NULL, 0, 10);
    }
    fail_msg("the worker never said: %s\n%s", words, text);
}

void realshell_end(pid_t pid) {
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}
