/* worker_options.h: what `reeve worker` can be told, from one table: reading and help come from it. */
#ifndef REEVE_WORKER_OPTIONS_H
#define REEVE_WORKER_OPTIONS_H

#include "agent.h"
#include "oscgroup.h"
#include "ostls.h"

#define WORKER_TOKEN_MAX 512u
#define WORKER_PATH_MAX 512u
#define WORKER_UIDS_MAX 65536u /* as many as one gives to a container */

#define WORKER_SHARES_MAX 1024u

struct worker_options {
    struct agent_options agent;
    char data[WORKER_PATH_MAX], server[WORKER_PATH_MAX + 16], token[WORKER_TOKEN_MAX], host[65];
    struct ostls_files tls;
    const char *handler_programs[AGENT_LIST_MAX][2]; /* of those that came as flags; NULL-terminated */
    const char *config;                              /* read before the flags: see worker_config.h */
    const char *titan_master, *titan_listen;         /* see worker_titan.h; NULL = a worker of our own */
    bool titan_open;
    const char *python_path; /* where jobs find our Python modules; NULL = where they came with this program */
    const char *pass_env;    /* as given: "NAME,NAME" or "all" */
    enum oscgroup_by limits_by;
    const char *sandbox_paths[AGENT_LIST_MAX];
    uint32_t sandbox_path_count;
    uint32_t share_at, share_of;  /* --share: the which of how many equal parts of the machine; 0 = all of it */
    bool has_cpu, has_memory;     /* said in numbers, so no share of the machine's */
    uint32_t uid_first, uid_last; /* for jobs; 0 = not said */
    bool help, man;
};

/* Fills in what is given; keeps pointers into `args`. */
CHECKED enum err worker_options_read(struct worker_options *o, int count, char **args, struct why *why);
bool worker_options_has_value(const char *name); /* false also when there is no such option */
void worker_options_help(void);
void worker_options_man(const char *build); /* the manual page reeve-worker(8) */

#endif
