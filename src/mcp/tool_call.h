/* tool_call.h: a call of a tool on its way. The tool reads its arguments and then either says its result or asks the
 * server something, by a message of native v2, with the function that hears the answer. It knows no connection: by
 * HTTP the server asks itself, `reeve mcp` asks over its own connection. */
#ifndef REEVE_TOOL_CALL_H
#define REEVE_TOOL_CALL_H

#include "json.h"
#include "json_tree.h"
#include "wire.h"

#define DEED_RESULT_BYTES_MAX (1u << 18) /* of one result: what a model can take at once is less */
#define DEED_TEXT_BYTES 4096u            /* of one text in it that may be long: a result, a reason */

/* What the tools need of the world; `file`, `yaml`, `notify` may be NULL. */
struct mcp_world {
    void *ctx;
    const struct limits *limits;
    int64_t wall_ms;     /* now */
    const char *place;   /* where the server is, for people */
    const char *version; /* of this program */
    void (*hash)(void *ctx, struct slice bytes, uint8_t ret[32]);
    /* A file of the machine that the agent is on; a path that is not absolute is meant from `beside`. */
    enum err (*file)(void *ctx, struct slice path, struct slice beside, struct arena *arena, struct slice *ret,
                     struct why *why);
    enum err (*yaml)(void *ctx, struct slice text, struct arena *arena, const struct json_node **ret, struct why *why);
    void (*notify)(void *ctx, struct slice message); /* to the agent, while a call is under way */
    void (*cancelled)(void *ctx, struct slice id);   /* the agent no longer waits for the call of this id */
};

struct deed;
struct find;
typedef void deed_begin(struct deed *c);
typedef void deed_then(struct deed *c, uint8_t op, const void *const *parts, uint32_t count);

struct tool;

struct deed {
    const struct tool *tool;
    const struct mcp_world *world;
    struct arena *arena; /* lives as long as the call */
    struct arena *trees; /* so does this, for JSON that came from outside: full, it is refused */
    struct slice text;   /* that the arguments were read from */
    const struct json_node *args;
    struct slice progress; /* token, as it was written; empty = nobody wants to hear of it */
    void *own;             /* the tool's */
    struct find *find;     /* find.h */

    uint8_t op; /* to be asked next; 0 = the call is over */
    const void *message;
    deed_then *then;
    bool hears_refusals; /* for this one answer: `then` gets them, too */

    struct buf out; /* the result, a JSON text */
    struct json json;
    bool is_error;
};

void deed_open(struct deed *c); /* checks the arguments against the table and begins */
void deed_hear(struct deed *c, uint8_t op, const void *const *parts, uint32_t count);
void deed_close(struct deed *c);

/* ---- for tools ---- */

/* Arguments: of the type that the table says; empty, 0, NULL when it is not there. */
struct slice deed_text(const struct deed *c, const char *name);
uint64_t deed_number(const struct deed *c, const char *name, uint64_t unless_said);
bool deed_flag(const struct deed *c, const char *name);
const struct json_node *deed_arg(const struct deed *c, const char *name);
struct slice deed_raw(const struct deed *c, const struct json_node *n); /* as it was written */
struct tlv_list deed_names(const struct deed *c, const char *name);     /* of wire_name */
struct tlv_list deed_pairs(const struct deed *c, const char *name);     /* of wire_pair */

void deed_ask(struct deed *c, enum wire_op op, const void *message, deed_then *then);
/* The result: an object is open in the writer that this returns; deed_say closes it and ends the call. */
struct json *deed_result(struct deed *c);
void deed_say(struct deed *c);
/* {"status": "error", "code": …, "message": …}, and the call is over. */
void deed_refuse(struct deed *c, enum err e, const char *format, ...) __attribute__((format(printf, 3, 4)));
void deed_refuse_text(struct deed *c, struct slice code, struct slice message);
bool deed_is_refusal(uint8_t op);
/* What became of the one flow that was submitted; NULL: it was refused, and that was said. */
const struct wire_submitted_flow *deed_submitted(struct deed *c, const struct wire_submitted *m);
void deed_pass_on(struct deed *c, uint8_t op, const void *message); /* a refusal, as the result */

/* A text of a result, cut where it is longer than DEED_TEXT_BYTES. */
void deed_put_text(struct json *j, const char *key, struct slice text);
void deed_put_str(struct json *j, const char *key, const char *text);
void deed_put_time(struct json *j, const char *key, int64_t wall_ms); /* 2026-01-31T18:00:00Z; 0 = nothing */
void deed_put_job(struct deed *c, struct json *j, const struct wire_job_view *v, bool details); /* the members */
struct slice deed_format(struct deed *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
