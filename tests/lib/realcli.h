/* realcli.h: the built program on its command line: what it printed, and how it ended. */
#ifndef REEVE_REALCLI_H
#define REEVE_REALCLI_H

#include <stddef.h>

struct realcli {
    char data[64]; /* directory of a server and a worker that run; DIR/worker is the worker's */
};

struct ran {
    int exit_code; /* 128 + N when it was killed */
    char *out, *err; /* terminated; valid until realcli_stop */
};

void realcli_make(struct realcli *r);  /* an empty directory */
void realcli_up(struct realcli *r);    /* `reeve up --detach` there */
void realcli_stop(struct realcli *r);  /* ends them, removes everything, frees what was printed */
/* `reeve ARGS…` with --data behind the verb's words. `args` are split at blanks; "%s" is replaced by `text`, as one
 * argument. `input` becomes standard input; NULL = empty. */
struct ran realcli_run(struct realcli *r, const char *args, const char *text, const char *input);
/* The same, and it must exit so. */
struct ran realcli_ok(struct realcli *r, const char *args, const char *text);
void realcli_refused(struct realcli *r, const char *args, int exit_code, const char *said);
/* Submits a file with that text; its id, valid until the next call. */
const char *realcli_submit(struct realcli *r, const char *text, const char *flags);
/* The arguments with the id in place of each @; valid until realcli_stop. */
const char *realcli_at(const char *args, const char *id);
/* Writes a file and returns its path, valid until the next call. */
const char *realcli_file(struct realcli *r, const char *name, const char *text);

/* One server and one worker for all tests of a program. */
extern struct realcli realcli_group;
int realcli_group_setup(void **state);
int realcli_group_teardown(void **state);

#endif
