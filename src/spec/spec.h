/* spec.h: flow files. A tree of values (from JSON here, from YAML in the command line) becomes a flow as the wire
 * carries it: parameters filled in, defaults spread, names resolved, jobs in an order in which parents come first.
 *
 * What the file may hold is one table (spec_keys.h), from which the guide and the JSON schema come too. A refusal reads
 * `file:line:column: what was expected`. Nothing here reads a file or asks a clock: the caller brings a spec_world. */
#ifndef REEVE_SPEC_H
#define REEVE_SPEC_H

#include "buf.h"
#include "json_tree.h"
#include "wire_admin.h"
#include "wire_flow.h"
#include "wire_run.h"

#define SPEC_HASH_BYTES 32u

struct spec_file { /* a file that the flow file names: small ones as they are, others as the hash of a blob */
    struct slice bytes, hash;
};

struct spec_world {
    void *ctx;
    /* Slices must live as long as the flow. NULL: files cannot be named here. */
    enum err (*file)(void *ctx, struct slice path, struct spec_file *ret, struct why *why);
    /* The text of a file that is read here and not sent along; NULL: the same. */
    enum err (*text)(void *ctx, struct slice path, struct slice *ret, struct why *why);
    void (*hash)(void *ctx, struct slice bytes, uint8_t ret[SPEC_HASH_BYTES]);
    int64_t now_ms; /* wall: "in two hours" counts from here */
    /* A value for a parameter that is not given, from the caller's surroundings; false: there is none. `env` is the
     * variable that the file names, or empty. NULL: there are no surroundings. */
    bool (*param)(void *ctx, struct slice name, struct slice env, struct slice *ret);
};

struct spec_source {
    const char *name; /* for messages */
    struct slice text;
    const struct json_node *root;
};

#define SPEC_PARAMS_MAX 256u /* that are given at once */

struct spec_given { /* a parameter from outside */
    struct slice name, value;
    bool is_json; /* a list or an object; else a text, which the type of the parameter reads */
};

/* An object of values as parameters; null is none. At most SPEC_PARAMS_MAX. */
CHECKED enum err spec_given_read(const struct json_node *object, struct arena *arena, struct spec_given **ret,
                                 uint32_t *ret_count, struct why *why);

struct spec_input {
    struct spec_source source;
    struct spec_world world;
    const struct spec_given *given;
    uint32_t given_count;
    uint32_t jobs_max; /* 0 = as many as the wire carries */
    bool grows;        /* the jobs join a flow that is there: needs may name jobs of it, which are not looked for */
    bool keeps_replicas; /* services with replicas stay one job each: replicas_expand is called later */
    bool has_slot;     /* a schedule makes the flow, so `schedule` is known; of one that is there the server knows */
};

/* Everything that *ret points to is in the arena or in the input. ERR_INVALID and its like for what is wrong with the
 * file, ERR_LIMIT when the arena is full. */
CHECKED enum err spec_read(const struct spec_input *in, struct arena *arena, struct wire_flow *ret, struct why *why);

/* `schedule:` as it was written; empty where nothing was. */
struct spec_schedule {
    uint32_t given; /* first: the reader's own */
    struct slice name;
    struct slice cron, every, at; /* one of them */
    struct slice from, zone, gap, fold, catch_up, overlap;
    bool paused;
    int64_t start_ms, end_ms;
    struct tlv_list weekdays, days, calendar_files; /* of wire_name */
    struct slice excluded;
    struct slice on_key;     /* in place of cron, every and at */
    struct tlv_list on_when; /* of wire_name */
    int64_t on_interval_ms;
    bool on_own;
    struct slice file_days; /* what the files say: "2026-12-24 Christmas Eve, 2026-12-25" */
};

/* Like spec_read, with the schedule of the file; its name is that of the flow unless it has one of its own. */
CHECKED enum err spec_read_scheduled(const struct spec_input *in, struct arena *arena, struct wire_flow *ret_flow,
                                     struct spec_schedule *ret, struct why *why);
/* The days of a calendar file, added to `ret` as a calendar has them, parted by commas. Three kinds, told apart by
 * what is in them: iCalendar (RFC 5545), whose events may last days and come back each year; lines of a date and, if it
 * has one, a name; and the same as a YAML list or map. `name` is for messages, `now_ms` bounds what comes back. */
CHECKED enum err spec_calendar_file(struct slice name, struct slice bytes, int64_t now_ms, struct buf *ret,
                                    struct why *why);
/* The message that sets it, but for its flow; the expression is checked (not whether its zone is known). */
CHECKED enum err spec_schedule_message(const struct spec_schedule *from, struct arena *arena,
                                       struct wire_schedule_set *ret, struct why *why);

#endif
