/* tool_call.h: a call of a tool on its way. The tool reads its arguments and then either says its result or asks the
 * server something, by a message of native v2, with the function that hears the answer. It knows no connection: by
 * HTTP the server asks itself, `reeve mcp` asks over its own connection. */
#ifndef REEVE_TOOL_CALL_H
#define REEVE_TOOL_CALL_H

#include "json.h"
#include "json_tree.h"
#include "wire.h"

#define TOOL_CALL_RESULT_BYTES_MAX (1u << 18) /* of one result: what a model can take at once is less */
#define TOOL_CALL_TIME_BYTES 32u
#define TOOL_CALL_TEXT_BYTES 4096u /* of one text in it that may be long: a result, a reason */

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

struct tool_call;
struct find;
typedef void tool_call_begin(struct tool_call *c);
typedef void tool_call_then(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count);

struct tool;

struct tool_call {
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
    tool_call_then *then;
    bool hears_refusals; /* for this one answer: `then` gets them, too */

    struct buf out; /* the result, a JSON text */
    struct json json;
    bool is_error;
};

void tool_call_open(struct tool_call *c); /* checks the arguments against the table and begins */
void tool_call_hear(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count);
void tool_call_close(struct tool_call *c);

/* ---- for tools ---- */

/* Arguments: of the type that the table says; empty, 0, NULL when it is not there. */
struct slice tool_call_text(const struct tool_call *c, const char *name);
uint64_t tool_call_number(const struct tool_call *c, const char *name, uint64_t unless_said);
bool tool_call_flag(const struct tool_call *c, const char *name);
const struct json_node *tool_call_arg(const struct tool_call *c, const char *name);
struct slice tool_call_raw(const struct tool_call *c, const struct json_node *n); /* as it was written */
struct tlv_list tool_call_names(const struct tool_call *c, const char *name);     /* of wire_name */
struct tlv_list tool_call_pairs(const struct tool_call *c, const char *name);     /* of wire_pair */

void tool_call_ask(struct tool_call *c, enum wire_op op, const void *message, tool_call_then *then);
/* The result: an object is open in the writer that this returns; tool_call_say closes it and ends the call. */
struct json *tool_call_result(struct tool_call *c);
void tool_call_say(struct tool_call *c);
/* {"status": "error", "code": …, "message": …}, and the call is over. */
void tool_call_refuse(struct tool_call *c, enum err e, const char *format, ...) __attribute__((format(printf, 3, 4)));
void tool_call_refuse_text(struct tool_call *c, struct slice code, struct slice message);
bool tool_call_is_refusal(uint8_t op);
/* What became of the one flow that was submitted; NULL: it was refused, and that was said. */
const struct wire_submitted_flow *tool_call_submitted(struct tool_call *c, const struct wire_submitted *m);
void tool_call_pass_on(struct tool_call *c, uint8_t op, const void *message); /* a refusal, as the result */

/* A text of a result, cut where it is longer than TOOL_CALL_TEXT_BYTES. */
void tool_call_put_text(struct json *j, const char *key, struct slice text);
void tool_call_put_str(struct json *j, const char *key, const char *text);
void tool_call_put_time(struct json *j, const char *key, int64_t wall_ms); /* 2026-01-31T18:00:00Z; 0 = nothing */
const char *tool_call_time(int64_t wall_ms, char text[TOOL_CALL_TIME_BYTES]);
void tool_call_put_job(struct tool_call *c, struct json *j, const struct wire_job_view *v,
                       bool details); /* the members */
struct slice tool_call_format(struct tool_call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
