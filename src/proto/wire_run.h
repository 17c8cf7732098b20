/* wire_run.h: what a worker is to run. Travels as the body of a job, from the client through journal and engine to the
 * worker, and is read only at the ends: by who shows it, renders its templates or runs it. */
#ifndef REEVE_WIRE_RUN_H
#define REEVE_WIRE_RUN_H

#include "wire_session.h"

struct wire_arg {
    struct slice text;
};

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
    int64_t sleep_ms;        /* kind sleep */
    uint32_t exit_code;      /* kind fail */
    uint64_t log_bytes_max;  /* 0 = the standard */
    uint32_t kill_grace_ms;  /* 0 = the standard */
    struct tlv_list labels;  /* of wire_pair: for people and searches */
    struct slice when;       /* an expression: the job is skipped unless it is true */
    struct slice foreach;    /* an expression: a list, for each item of which the job is made */
    struct slice message;    /* kind gate: what the person is asked */
    struct tlv_list inputs;  /* of wire_take */
    struct slice params;     /* of the flow, a JSON object: for its expressions, when they name some */
    struct slice entry;      /* kind archive: which of its files is run; empty = looked for */
    struct slice dir;        /* kind archive: its folder to start in; empty = its top */
    uint32_t strip;          /* kind archive: folders to take off the front of every path */
};

extern const struct tlv_desc wire_arg_desc, wire_file_desc, wire_artifact_desc, wire_take_desc, wire_run_desc;

#endif
