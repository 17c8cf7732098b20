/* wire_run.h: what a worker is to run. Travels as the body of a job, from the client through journal and engine to the
 * worker, and is read only at the ends: by who shows it, renders its templates or runs it. */
#ifndef REEVE_WIRE_RUN_H
#define REEVE_WIRE_RUN_H

#include "wire_http.h"

struct wire_file { /* put into the workspace before the start */
    struct slice path;
    struct slice hash; /* of a blob */
    bool executable;
};

struct wire_artifact { /* kept after the end */
    struct slice name;
    struct slice path; /* in the workspace; * and ? match */
    bool optional;
};

struct wire_take { /* an artifact of a parent, put into the workspace before the start */
    struct slice path;
    struct slice job; /* the parent, by its name in the flow */
    struct slice name;
};

struct wire_ceilings { /* 0 = none */
    uint64_t memory_bytes;
    uint32_t cpu_milli; /* thousandths of a processor */
    uint32_t pids;      /* processes and threads at once */
    uint32_t open_files;  /* of each process */
    uint64_t file_bytes; /* of each file */
};

/* Bits of wire_run.sandbox; a worker refuses what it does not know. WIRE_SANDBOX_CAPABILITY is asked for by whoever
 * submits a job with one: so it is never given to a worker that cannot keep it, or is too old to know of it. */
enum wire_sandbox {
    WIRE_SANDBOX_ON = 1,      /* no privileges, no dangerous system calls, no processes but its own */
    WIRE_SANDBOX_NET_OFF = 2, /* and no network */
    WIRE_SANDBOX_FILES = 4,   /* and no files but the system's, its own and those of the two lists */
    WIRE_SANDBOX_ALL = 7,
};
#define WIRE_SANDBOX_CAPABILITY "sandbox"
struct wire_run;
/* Whether a job of this kind (enum job_kind) and body runs a program of its own on a worker: whatever does has the
 * job's sandbox around it, be it the job itself, its submit or its poll. */
bool wire_run_has_program(uint8_t kind, const struct wire_run *run);
/* strict, net-off or none; false: there is no such word. */
bool wire_sandbox_of(struct slice word, uint32_t *ret);

/* How a worker sees whether a service is well. */
enum wire_probe_kind {
    WIRE_PROBE_STANDARD, /* a connection to its port; without one, that it has run for a moment */
    WIRE_PROBE_TCP,
    WIRE_PROBE_HTTP,
    WIRE_PROBE_COMMAND,
    WIRE_PROBE_KIND_COUNT
};

struct wire_probe {
    uint8_t kind;       /* enum wire_probe_kind */
    uint32_t port;      /* of this machine; 0 = that of the service */
    struct slice path;  /* http */
    struct tlv_list argv; /* of wire_arg: command */
    struct slice shell;   /* or: a command for /bin/sh -c */
    uint32_t interval_ms, timeout_ms, threshold; /* 0 = the standard */
    uint32_t grace_ms;  /* after the start, in which failures do not count; 0 = the standard */
};

struct wire_run {
    struct tlv_list argv;     /* of wire_arg: the command, or the arguments of the script */
    struct slice shell;       /* or: a command for /bin/sh -c */
    struct slice script;      /* or: a small script, with its name; kind archive: the archive */
    struct slice script_name; /* its ending chooses the interpreter; without a known one its first line does */
    struct slice script_hash; /* or: a script that is a blob */
    struct slice stdin_text;
    struct slice stdin_hash; /* or: a blob */
    struct tlv_list env;     /* of wire_pair */
    struct tlv_list files;   /* of wire_file */
    struct tlv_list artifacts; /* of wire_artifact */
    struct slice workdir;    /* empty = the workspace */
    int64_t sleep_ms;        /* kind sleep; kind fail: before it fails */
    uint32_t exit_code;      /* kind fail */
    uint64_t log_bytes_max;  /* 0 = the standard */
    uint32_t kill_grace_ms;  /* 0 = the standard */
    struct tlv_list labels;  /* of wire_pair: for people and searches */
    struct slice when;       /* an expression: the job is skipped unless it is true */
    struct slice foreach;    /* an expression: a list, for each item of which the job is made */
    struct slice message;    /* kind gate: what the person is asked */
    struct tlv_list inputs;  /* of wire_take */
    struct slice params;     /* of the flow, a JSON object: for its expressions, when they name some */
    uint32_t port;           /* kind service: its $PORT; 0 = none */
    bool port_auto;          /* or: one that is free, chosen by the worker at each start */
    struct wire_probe health; /* kind service */
    struct slice entry;      /* kind archive: which of its files is run; empty = looked for */
    struct slice dir;        /* kind archive: its folder to start in; empty = its top */
    uint32_t strip;          /* kind archive: folders to take off the front of every path */
    bool is_archive;         /* kind service: what it runs is one */
    struct wire_ceilings limits; /* what one attempt may use, whatever else happens */
    uint32_t sandbox;              /* enum wire_sandbox; 0 = none */
    struct tlv_list sandbox_read;  /* of wire_arg: absolute paths */
    struct tlv_list sandbox_write; /* the same */
    struct tlv_list http;    /* kind http: of wire_http, one */
    struct tlv_list submit;  /* kind external: of wire_step, at most one: what begins the work outside */
    struct tlv_list poll;    /* kind external: of wire_step, at most one: what asks how it is */
    struct tlv_list interpreter; /* of wire_arg: what runs the script, in place of what its ending says */
    bool shared;             /* it starts in the directory that jobs of its tenant share on that worker */
    struct slice titan;      /* a job of Titan's dialect: where the server speaks it, HOST:PORT. Its worker keeps to
                              * Titan's ways: one directory for scripts of its tenant, TITAN_HOST and TITAN_PORT */
    struct slice late;       /* of the flow, a JSON object: parameters whose values are templates of its slot */
    struct slice replica_of; /* kind service: the service that it is a replica of, by the number behind its name */
    struct slice handler;    /* kind command: in place of one, the type of job that the worker has a program for */
};

/* The owner of a worker says which program handles which type of job. Its payload, `stdin_text`, is its last argument
 * and its standard input. The capability is asked for by whoever submits such a job: it is the type behind this. */
#define WIRE_HANDLER_CAPABILITY "handler:"

/* Tags of what names blobs: whoever has none of them names none. */
enum { WIRE_RUN_SCRIPT_HASH = 5, WIRE_RUN_STDIN_HASH = 7, WIRE_RUN_FILES = 9 };
#define WIRE_RUN_BLOB_TAGS \
    (UINT64_C(1) << WIRE_RUN_SCRIPT_HASH | UINT64_C(1) << WIRE_RUN_STDIN_HASH | UINT64_C(1) << WIRE_RUN_FILES)

extern const struct tlv_desc wire_file_desc, wire_artifact_desc, wire_take_desc, wire_probe_desc, wire_ceilings_desc,
    wire_run_desc;

#endif
