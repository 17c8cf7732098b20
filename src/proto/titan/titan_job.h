/* titan_job.h: jobs as Titan's clients write them: one, or several as a DAG. Pure text in, a description out.
 *
 *     payload = job *( ";" job )
 *     job     = ID | X | BODY | PRIORITY | DELAY_MS | [parent,…] ( | AFFINITY )      of a DAG
 *     job     = ( ID | ) X | BODY ( | PRIORITY | DELAY_MS )                           alone
 *
 * There is no escaping, so a job is read from the outside in: its end first, then its beginning, and what is left is
 * the body. X is the command, or a skill that comes before it:
 *
 *     RUN_PAYLOAD | file ( | args ) | base64 ( | requirement )
 *     DEPLOY_PAYLOAD | file | base64 | port ( | requirement )
 *     RUN_ARCHIVE | name.zip/entry | args ( | requirement )
 *     START_ARCHIVE_SERVICE | name.zip/entry | args | port ( | requirement )
 *
 * A job whose command is none of these is of a type that workers have a handler for. Spaces around fields do not
 * matter. */
#ifndef REEVE_TITAN_JOB_H
#define REEVE_TITAN_JOB_H

#include "arena.h"
#include "buf.h"
#include "err.h"
#include "slice.h"

#define TITAN_DAG_PREFIX "DAG-"
#define TITAN_GENERAL "GENERAL" /* the capability of a worker that claims none */

enum titan_kind {
    TITAN_KIND_SCRIPT,
    TITAN_KIND_SERVICE,
    TITAN_KIND_ARCHIVE,
    TITAN_KIND_ARCHIVE_SERVICE,
    TITAN_KIND_HANDLER,
};

#define TITAN_ELSEWHERE UINT32_MAX

struct titan_parent {
    struct slice id; /* with its prefix */
    uint32_t at;     /* which job of the payload it is; TITAN_ELSEWHERE = none of it */
    struct slice target; /* then: FLOW/JOB, which whoever knows the jobs fills in */
};

struct titan_job {
    struct slice id; /* empty = whoever takes it gives it one; of a DAG: with its prefix */
    enum titan_kind kind;
    struct slice file;   /* script, service: its name; archives: that of the archive; handler: the type */
    struct slice entry;  /* archives: which file of it */
    struct slice args;   /* separated by single blanks; handler: the payload */
    struct slice base64; /* script, service: the file */
    struct slice bytes;  /* its content, or the hash of a blob that has it: filled in by whoever keeps files */
    struct slice hash;
    bool named;    /* script, service: nothing was sent, the file is one that was uploaded before */
    uint32_t port;       /* services */
    struct slice requirement;
    int64_t priority, delay_ms;
    bool affinity;
    struct titan_parent *parents;
    uint32_t parent_count;
};

struct titan_jobs {
    struct titan_job *at;
    uint32_t count;
};

/* Slices point into the text or the arena. A cycle among the jobs is ERR_CYCLE. */
CHECKED enum err titan_dag_read(struct slice text, struct arena *arena, struct titan_jobs *ret, struct why *why);
CHECKED enum err titan_job_read(struct slice text, struct arena *arena, struct titan_job *ret, struct why *why);

/* Finds each parent among the jobs, by its id. As above for a cycle. */
CHECKED enum err titan_jobs_link(struct titan_jobs *all, struct arena *arena, struct why *why);

struct slice titan_prefixed(struct slice id, struct arena *arena); /* DAG- and the id, unless it begins so */

/* A job by which Titan's SDK lets a person decide (`hitl_message`): a script that would poll the store.
 *
 *     hitl-gate-JOB | RUN_PAYLOAD | hitl_gate.py | hitl-gate-JOB SECONDS MESSAGE | …
 *
 * Its own id comes first among its arguments, without the prefix of DAGs; that is how the keys of the store name it. */
#define TITAN_GATE_FILE "hitl_gate.py"
#define TITAN_GATE_PREFIX "hitl-gate-"

struct titan_gate {
    struct slice id;      /* as keys have it */
    struct slice message; /* valid UTF-8, not empty */
    int64_t wait_ms;      /* more than 0 */
};
/* False: it is not of exactly this form, and so a script like any other. */
bool titan_gate_read(const struct titan_job *job, struct titan_gate *ret);

struct slice titan_trim(struct slice text); /* without blanks and line ends around it */
bool titan_number(struct slice text, int64_t *ret);

#endif
