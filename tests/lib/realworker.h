/* realworker.h: the built program as a worker in a directory of its own, by default one that finds its server by the
 * server's directory. All that it starts carries a mark in its environment, by which survivors are found. */
#ifndef REEVE_REALWORKER_H
#define REEVE_REALWORKER_H

#include <stdint.h>
#include <sys/types.h>

struct realserver;
struct cgroups;

struct realworker {
    char data[96];
    char mark[64];         /* STORM_MARK of the present start; jobs see it */
    const char *flags[16]; /* further ones, set before the start */
    const char *server;    /* "host:port" or "unix:/path" in place of the directory; set before the start */
    const char *token;     /* NULL: that of the directory */
    const char *netns;     /* path of the network namespace to live in; NULL = ours */
    const char *binary;    /* NULL = the built one */
    uid_t uid;             /* whose it is; 0 = ours */
    const struct cgroups *cgroups; /* control groups to live in; NULL = ours */
    const char *log;       /* file for what it says; NULL = nowhere */
    uint32_t starts;
    pid_t pid; /* 0: it does not run */
};

void realworker_make(struct realworker *w, const struct realserver *s, const char *name);
void realworker_start(struct realworker *w, const struct realserver *s);
void realworker_kill(struct realworker *w); /* -9; and the test fails when something with its mark lives on */
int realworker_stop(struct realworker *w);  /* TERM; its exit code */
/* Processes that have this mark, the worker among them. */
uint32_t realworker_processes(const char *mark);
void realworker_none_left(const char *mark); /* soon: it waits a few seconds */

#endif
