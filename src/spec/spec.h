/* spec.h: flow files. A tree of values (from JSON here, from YAML in the command line) becomes a flow as the wire
 * carries it: parameters filled in, defaults spread, names resolved, jobs in an order in which parents come first.
 *
 * What the file may hold is one table (spec_keys.h), from which the guide and the JSON schema come too. A refusal reads
 * `file:line:column: what was expected`. Nothing here reads a file or asks a clock: the caller brings a spec_world. */
#ifndef REEVE_SPEC_H
#define REEVE_SPEC_H

#include "json_tree.h"
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
    void (*hash)(void *ctx, struct slice bytes, uint8_t ret[SPEC_HASH_BYTES]);
    int64_t now_ms; /* wall: "in two hours" counts from here */
};

struct spec_source {
    const char *name; /* for messages */
    struct slice text;
    const struct json_node *root;
};

struct spec_given { /* a parameter from outside */
    struct slice name, value;
};

struct spec_input {
    struct spec_source source;
    struct spec_world world;
    const struct spec_given *given;
    uint32_t given_count;
    uint32_t jobs_max; /* 0 = as many as the wire carries */
    bool grows;        /* the jobs join a flow that is there: needs may name jobs of it, which are not looked for */
};

/* Everything that *ret points to is in the arena or in the input. ERR_INVALID and its like for what is wrong with the
 * file, ERR_LIMIT when the arena is full. */
CHECKED enum err spec_read(const struct spec_input *in, struct arena *arena, struct wire_flow *ret, struct why *why);

#endif
