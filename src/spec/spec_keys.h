/* spec_keys.h: the keys of flow files, in one table per kind of object. Reading, the guide (docs/guides/flows.md), the
 * JSON schema for editors and the question "did you mean" all come from here. */
#ifndef REEVE_SPEC_KEYS_H
#define REEVE_SPEC_KEYS_H

#include "spec.h"

/* How a value is written, and as what it is kept. */
enum spec_type {
    SPEC_TEXT,     /* struct slice */
    SPEC_TEMPLATE, /* struct slice: a text in which `${…}` may stand */
    SPEC_BOOL,     /* bool */
    SPEC_COUNT,    /* uint32_t */
    SPEC_RETRIES,  /* uint32_t: one more, the attempts in all */
    SPEC_MS32,     /* uint32_t: a duration */
    SPEC_MS64,     /* int64_t: a duration */
    SPEC_MOMENT,   /* int64_t: a time, or a duration from the submit on */
    SPEC_SIZE,     /* uint64_t */
    SPEC_MILLI,    /* uint32_t: a number with decimals, thousandths */
    SPEC_PRIORITY, /* int64_t: low, normal, high, or a number relative to normal */
    SPEC_UPSTREAM, /* uint8_t: enum on_upstream */
    SPEC_TRIGGER,  /* uint8_t: enum trigger */
    SPEC_UPDATE,   /* uint8_t: enum update */
    SPEC_UNDO_ON,  /* uint8_t: enum compensate_on */
    SPEC_ENDS,     /* uint8_t: RETRY_ bits: a word or a list of them */
    SPEC_RIGHTS,   /* uint8_t: TOKEN_ bits: a word or a list of them */
    SPEC_NAMES,    /* struct tlv_list of wire_name: a text or a list of them */
    SPEC_PAIRS,    /* struct tlv_list of wire_pair: an object of plain values; added to what the defaults have */
    SPEC_ENV,      /* the same, and the values are templates */
    SPEC_AMOUNTS,  /* struct tlv_list of wire_amount: an object of numbers */
    SPEC_EXITS,    /* struct tlv_u32s: a number or a list of them */
    SPEC_OBJECT,   /* a part of the same struct, by a table of its own; a plain value stands for its first key */
    SPEC_NODE,     /* const struct json_node *: read later, by a function */
    SPEC_TYPE_COUNT
};

/* Where a key may stand: bits of spec_field.where. */
enum spec_where { IN_JOB = 1, IN_DEFAULTS = 2, IN_UNDO = 4 };

struct spec_object;

struct spec_field {
    const char *key;
    uint8_t type;  /* enum spec_type */
    uint8_t where; /* of a job's keys: enum spec_where; 0 = everywhere */
    uint32_t given; /* bit set in the struct's `given` when the key is there */
    uint32_t offset;
    uint32_t zero_as; /* numbers: what a written 0 is kept as, where 0 means "not said" */
    const struct spec_object *sub;
    const char *schema; /* SPEC_NODE: its JSON schema */
    const char *form;   /* for people: what is written there; NULL = that of the type */
    const char *text;   /* for people: what it means */
};

struct spec_object {
    const char *name; /* "a job" */
    const struct spec_field *fields;
    uint32_t count;
};

extern const struct spec_object spec_flow_keys, spec_param_keys, spec_job_keys, spec_script_keys, spec_stdin_keys,
    spec_artifact_keys, spec_cache_keys, spec_foreach_keys, spec_schedule_keys, spec_calendar_keys, spec_on_keys,
    spec_archive_keys, spec_sandbox_keys,
    spec_http_keys, spec_external_keys, spec_step_keys;

/* How a value of this type is written, for people; and as JSON schema. */
const char *spec_type_form(enum spec_type type);
const char *spec_type_schema(enum spec_type type);

/* ---- what the tables fill ---- */

/* What a job can be: its kind, and the function that reads what stands behind the key, once all keys of the job are
 * known (spec_job.c; NULL = the key says it all). The key is the line of spec_job_keys that has the bit GIVEN_…; the
 * order is the one in which they are told to people. */
/* clang-format off */
/*    bit       kind          reads it */
#define SPEC_KIND_TABLE(X)                        \
    X(RUN,      JOB_COMMAND,  read_run)           \
    X(SCRIPT,   JOB_SCRIPT,   read_script)        \
    X(ARCHIVE,  JOB_ARCHIVE,  read_archive)       \
    X(HTTP,     JOB_HTTP,     read_http)          \
    X(HANDLER,  JOB_COMMAND,  spec_handler_read)  \
    X(SERVICE,  JOB_SERVICE,  read_service)       \
    X(GATE,     JOB_GATE,     NULL)               \
    X(EXTERNAL, JOB_EXTERNAL, spec_external_read) \
    X(NOOP,     JOB_NOOP,     read_noop)          \
    X(SLEEP,    JOB_SLEEP,    NULL)               \
    X(FAIL,     JOB_FAIL,     read_fail)

enum spec_kind {
#define X(bit, kind, read) SPEC_KIND_##bit,
    SPEC_KIND_TABLE(X)
#undef X
    SPEC_KIND_COUNT
};

enum spec_job_given { /* bits of spec_job.given; of those of its kind, a job has exactly one */
#define X(bit, kind, read) GIVEN_##bit = 1 << SPEC_KIND_##bit,
    SPEC_KIND_TABLE(X)
#undef X
    GIVEN_KINDS = (1 << SPEC_KIND_COUNT) - 1,
    GIVEN_APPROVAL = 1 << 24,
    GIVEN_TOPIC = 1 << 25,
    GIVEN_POOL = 1 << 26,
    GIVEN_FATAL = 1 << 27,
    GIVEN_PAYLOAD = 1 << 28,
};
/* clang-format on */
_Static_assert(GIVEN_KINDS < GIVEN_APPROVAL, "the bits of kinds stand below the others");

struct spec_job { /* also the defaults of all jobs, and a compensation */
    uint32_t given; /* first: the reader sets bits here */
    uint32_t at;    /* offset of its name in the text */
    struct slice name;
    struct wire_options o;
    struct wire_run r;
    bool noop;
    const struct json_node *run, *script, *needs, *when, *foreach, *stdin_node, *artifacts, *inputs, *compensate;
    const struct json_node *phase, *cache, *archive;
    const struct json_node *http, *external;
    const struct json_node *sandbox;
    bool is_sandbox_inherited; /* of a compensation: it is the one of its job */
    struct slice service; /* its name, of a job that deploys one */
    bool probe_tcp;
    const struct json_node *port, *probe_command;
};

struct spec_flow {
    uint32_t given;
    struct slice name, key;
    int64_t key_ms;
    struct slice trace;
    uint8_t compensate_on;
    int64_t timeout_ms;
    struct tlv_list labels;
    struct slice description;
    struct tlv_list phases; /* of wire_name */
    const struct json_node *params, *defaults, *jobs, *schedule, *deadline;
    const struct json_node *on_success, *on_failure, *finally; /* as `jobs` */
};

/* What a parameter may be: its word, what is expected in a refusal, how its values are ordered, whether it is a text in
 * JSON (of those a slot may decide). */
/* clang-format off */
#define SPEC_PARAM_TABLE(X)                                                       \
    X(ANY,      "",         "a plain value",                        false, true)  \
    X(STRING,   "string",   "a text",                               false, true)  \
    X(INTEGER,  "integer",  "an integer",                           true,  false) \
    X(NUMBER,   "number",   "a number",                             true,  false) \
    X(BOOLEAN,  "boolean",  "true or false",                        false, false) \
    X(DATE,     "date",     "a date like 2026-03-31",               true,  true)  \
    X(TIME,     "time",     "a time like 2026-03-31T08:00:00Z",     true,  true)  \
    X(DURATION, "duration", "a duration like 90s or 1h30m",         true,  true)  \
    X(LIST,     "list",     "a list in JSON, like [\"a\", \"b\"]",  false, false) \
    X(OBJECT,   "object",   "an object in JSON, like {\"a\": 1}",   false, false) \
    X(JSON,     "json",     "JSON",                                 false, false)
/* clang-format on */

enum spec_param_type {
#define X(name, word, wanted, is_ordered, is_text) SPEC_PARAM_##name,
    SPEC_PARAM_TABLE(X)
#undef X
        SPEC_PARAM_TYPE_COUNT
};

struct regexp; /* regexp.h */

struct spec_param {
    uint32_t given; /* first: the reader's own */
    struct slice name;
    uint8_t type; /* enum spec_param_type; ANY = it has none: its values are what its default is */
    uint8_t kind; /* enum json_kind of its value */
    bool truth;
    bool has_value;
    bool is_late; /* its value is a template of the slot */
    bool required;
    struct slice value; /* as text; a list or an object as JSON */
    uint32_t at;        /* of its name; of its value once that is the default */
    const struct json_node *type_node, *standard, *choices, *min, *max, *pattern;
    const struct regexp *regexp; /* the pattern, read */
    struct slice env, description;
};
#define GIVEN_REQUIRED 1u

struct spec_artifact {
    uint32_t given;
    struct wire_artifact kept;
};

struct spec_script { /* `script: {…}` */
    uint32_t given;  /* 1 file, 2 text */
    struct slice file, name;
    const struct json_node *text, *args;
};

struct spec_archive { /* `archive: {…}` */
    uint32_t given;
    struct slice file, entry, dir;
    uint32_t strip;
    const struct json_node *args;
};

struct spec_stdin {
    uint32_t given; /* 1 text, 2 file */
    struct slice text, file;
};

struct spec_http {
    uint32_t given;
    struct wire_http h;
    const struct json_node *url, *headers, *body, *json, *expect;
};

struct spec_external {
    uint32_t given;
    struct slice message;
    int64_t timeout_ms;
    const struct json_node *submit, *poll;
};

struct spec_step { /* `submit` or `poll` of an external job */
    uint32_t given;
    struct wire_step step;
    uint32_t every_ms, up_to_ms;
    const struct json_node *run, *http, *until, *failed;
};

struct spec_cache {
    uint32_t given;
    struct slice key;
    int64_t ms;
};

struct spec_sandbox { /* `sandbox: {…}` */
    uint32_t given;
    bool strict;
    const struct json_node *net;
    struct tlv_list read, write; /* of wire_name */
};

struct spec_foreach {
    uint32_t given;
    const struct json_node *in, *allow, *exclude, *include;
    uint32_t max_parallel;
    bool fail_fast;
};

#endif
