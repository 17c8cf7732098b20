/* escape.h: what a job could try to get out of its sandbox. The same attempts are made without one: where they come
 * through there, they are real; where they do not, the reason is told. */
#ifndef REEVE_ESCAPE_H
#define REEVE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What there is to be found. */
struct escape_world {
    const char *outside; /* a directory of the host, open to everyone, with a file `secret` in it */
    const char *server_data, *server_socket;
    const char *neighbour_space; /* workspace of another job, with a file `secret` in it */
    const char *abstract;        /* name of a Unix socket that has no file */
    uint32_t tcp_port, udp_port;
    pid_t worker, neighbour;
    pid_t parent; /* of the job: a keeper, or who stands before it in a sandbox; escape_main fills it in */
};

enum escape_witness {
    WITNESS_ALWAYS,    /* without a sandbox it comes through */
    WITNESS_ROOT,      /* if it is root's */
    WITNESS_IF_KERNEL, /* if the kernel has it at all: no proof when it does not */
};

struct escape {
    const char *name;
    int (*attempt)(const struct escape_world *w); /* 0: it came through; else errno */
    enum escape_witness witness;
};

extern const struct escape escapes[];
extern const uint32_t escape_count;

/* Whether the kernel has what sandboxes need, for that user (0 = us); asked without any code of ours. Else it is said
 * why a test is skipped. */
bool escape_kernel_can(uid_t uid);

/* In the job: makes all attempts, each in a process of its own, with a line for each: "NAME through" or "NAME refused
 * WHY". `args` are what escape_args wrote. */
int escape_main(char **args);
#define ESCAPE_ARGS 9
/* As a list for a flow file: "a, b, …". */
void escape_args(const struct escape_world *w, char *ret, size_t size);

#endif
