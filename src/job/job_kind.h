/* job_kind.h: the kinds of jobs, one line each.
 *
 * The engine, the wire, flow files and workers take what they have to know of a kind from its line. A kind that needs
 * work of its own has it where that work is done: flow files read it by its line in spec_keys.h, and a worker makes the
 * command of its program in job_setup.c. */
#ifndef REEVE_JOB_KIND_H
#define REEVE_JOB_KIND_H

#include <stdbool.h>
#include <stdint.h>

/* Where a job of the kind ends. */
enum job_ends {
    JOB_ENDS_ON_WORKER,  /* a worker runs it and reports how it ended */
    JOB_ENDS_IN_APPLY,   /* when its parents are done and its own question is answered; it needs no worker */
    JOB_ENDS_BY_SERVICE, /* when the service that it deploys is healthy; a worker runs that service */
};

/* What a worker runs for it. */
enum job_runs {
    JOB_RUNS_NOTHING, /* a worker refuses it */
    JOB_RUNS_INSIDE,  /* the worker itself does it, without a process */
    JOB_RUNS_HELPER,  /* a process that is part of Reeve and has bounds of its own: child/jail.h */
    JOB_RUNS_PROGRAM, /* a program that the job brings: it has a directory, a token and the sandbox */
};

/* Questions that a job may stand before. Bits of its option `gates`. */
enum gate {
    GATE_CONDITION,
    GATE_RENDER,
    GATE_POLICY,
    GATE_APPROVAL,
    GATE_EXTERNAL,
    GATE_OUTPUT,    /* after the run, in CHECKING */
    GATE_SERVICE,   /* of a job that deploys, after all others: the engine itself answers; no option asks for it */
    GATE_EXPANSION, /* a foreach job: over which items? Asked behind the condition; see gates_in_order */
    GATE_COUNT
};
#define GATE_BIT(g) ((uint8_t)(1u << (g)))

/* The order is format, in the journal and on the wire: a new kind goes to the end.
 *
 * `asks` is the gate that every job of the kind stands before, GATE_COUNT = none. An external job with attempts (its
 * option `calls`) runs on a worker and is not asked about. */
/* clang-format off */
/*    kind      word        where it ends        what a worker runs  asks */
#define JOB_KIND_TABLE(X)                                                             \
    X(COMMAND,  "command",  JOB_ENDS_ON_WORKER,  JOB_RUNS_PROGRAM,  GATE_COUNT)       \
    X(SCRIPT,   "script",   JOB_ENDS_ON_WORKER,  JOB_RUNS_PROGRAM,  GATE_COUNT)       \
    X(ARCHIVE,  "archive",  JOB_ENDS_ON_WORKER,  JOB_RUNS_PROGRAM,  GATE_COUNT)       \
    X(SERVICE,  "service",  JOB_ENDS_BY_SERVICE, JOB_RUNS_PROGRAM,  GATE_COUNT)       \
    X(HTTP,     "http",     JOB_ENDS_ON_WORKER,  JOB_RUNS_HELPER,   GATE_COUNT)       \
    X(NOOP,     "noop",     JOB_ENDS_ON_WORKER,  JOB_RUNS_INSIDE,   GATE_COUNT)       \
    X(SLEEP,    "sleep",    JOB_ENDS_ON_WORKER,  JOB_RUNS_INSIDE,   GATE_COUNT)       \
    X(FAIL,     "fail",     JOB_ENDS_ON_WORKER,  JOB_RUNS_INSIDE,   GATE_COUNT)       \
    X(GATE,     "gate",     JOB_ENDS_IN_APPLY,   JOB_RUNS_NOTHING,  GATE_APPROVAL)    \
    X(BARRIER,  "barrier",  JOB_ENDS_IN_APPLY,   JOB_RUNS_NOTHING,  GATE_COUNT)       \
    X(EXTERNAL, "external", JOB_ENDS_IN_APPLY,   JOB_RUNS_NOTHING,  GATE_EXTERNAL)
/* clang-format on */

enum job_kind {
#define X(kind, word, ends, runs, asks) JOB_##kind,
    JOB_KIND_TABLE(X)
#undef X
        JOB_KIND_COUNT
};

struct job_kind_row {
    uint8_t ends; /* enum job_ends */
    uint8_t runs; /* enum job_runs */
    uint8_t asks; /* enum gate; GATE_COUNT = nothing */
};
extern const struct job_kind_row job_kind_rows[JOB_KIND_COUNT];
extern const char *const job_kind_words[JOB_KIND_COUNT];

/* A number that is no kind counts as a command, until decide refuses it. */
static inline const struct job_kind_row *job_kind_of(uint8_t kind) {
    return &job_kind_rows[kind < JOB_KIND_COUNT ? kind : JOB_COMMAND];
}

#endif
