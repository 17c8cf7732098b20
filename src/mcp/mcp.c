/* mcp.c: see mcp.h. */
#include "mcp.h"

#include <stdio.h>

#include "panic.h"

const char *const mcp_revision_words[MCP_REVISION_COUNT] = {"2024-11-05", "2025-03-26", "2025-06-18"};

static const char instructions[] =
    "Reeve runs jobs, graphs of jobs and services durably. Submit scripts with submit_single_job or "
    "submit_dag_pipeline, or any flow with submit (plan checks it first). A submit returns at once: use wait, show, "
    "get_job_status and logs to follow it, why when something does not run. Answers are pages: go on with their cursor "
    "or offset. Gates are for people: an agent can reject, only a person can approve.";

bool mcp_revision_of(struct slice word, enum mcp_revision *ret) {
    for (uint32_t i = 0; i < MCP_REVISION_COUNT; i++)
        if (slice_eq(word, slice_str(mcp_revision_words[i]))) {
            *ret = (enum mcp_revision)i;
            return true;
        }
    return false;
}

/* ---- what is said ---- */

/* The writer puts commas: within a batch everything said is an item of one array. */
static struct json *said_open(struct mcp_exchange *x) {
    if (x->is_batch && x->said_count == 0) json_array(&x->json);
    x->said_count++;
    return &x->json;
}

static void say_error(struct mcp_exchange *x, struct slice id, enum rpc_code code, const char *text) {
    rpc_error(said_open(x), id, code, slice_str(text));
}

/* ---- methods ---- */

/* The revision that was asked for if we know it, else our newest: then it is up to the client. */
static void initialize(struct mcp_exchange *x, const struct rpc_message *m) {
    const struct json_node *wanted = m->params != NULL ? json_tree_get(m->params, SLICE("protocolVersion")) : NULL;
    enum mcp_revision revision = MCP_REVISION_COUNT - 1;
    if (wanted == NULL || wanted->kind != JSON_TEXT) {
        say_error(x, m->id, RPC_BAD_PARAMS, "initialize needs `protocolVersion`, a text");
        return;
    }
    (void)mcp_revision_of(wanted->text, &revision);
    *x->revision = revision;
    x->was_initialize = true;
    struct json *j = said_open(x);
    rpc_result(j, m->id);
    json_object(j);
    tool_call_put_str(j, "protocolVersion", mcp_revision_words[revision]);
    json_key(j, "capabilities");
    json_raw(j, SLICE("{\"tools\":{}}"));
    json_key(j, "serverInfo");
    json_object(j);
    tool_call_put_str(j, "name", "reeve");
    tool_call_put_str(j, "version", x->world->version);
    json_object_end(j);
    tool_call_put_str(j, "instructions", instructions);
    json_object_end(j);
    json_object_end(j);
}

static void ping(struct mcp_exchange *x, const struct rpc_message *m) {
    struct json *j = said_open(x);
    rpc_result(j, m->id);
    json_raw(j, SLICE("{}"));
    json_object_end(j);
}

static void tools_list(struct mcp_exchange *x, const struct rpc_message *m) {
    struct json *j = said_open(x);
    rpc_result(j, m->id);
    json_object(j);
    json_key(j, "tools");
    tool_list_put(j, *x->revision >= MCP_2025_03_26);
    json_object_end(j);
    json_object_end(j);
}

static void say_result(struct mcp_exchange *x) {
    struct tool_call *c = &x->deed;
    struct json *j = said_open(x);
    rpc_result(j, x->id);
    json_object(j);
    json_key(j, "content");
    json_array(j);
    json_object(j);
    tool_call_put_str(j, "type", "text");
    json_key(j, "text");
    json_text(j, buf_slice(&c->out));
    json_object_end(j);
    json_array_end(j);
    if (*x->revision >= MCP_2025_06_18) json_key(j, "structuredContent"), json_raw(j, buf_slice(&c->out));
    if (c->is_error) json_key(j, "isError"), json_bool(j, true);
    json_object_end(j);
    json_object_end(j);
}

static void settle(struct mcp_exchange *x) {
    if (x->deed.op != 0) return;
    say_result(x);
    tool_call_close(&x->deed);
    x->is_calling = false;
}

static struct slice progress_of(const struct mcp_exchange *x, const struct json_node *params) {
    const struct json_node *meta = json_tree_get(params, SLICE("_meta"));
    const struct json_node *token = meta != NULL ? json_tree_get(meta, SLICE("progressToken")) : NULL;
    if (token == NULL || (token->kind != JSON_TEXT && token->kind != JSON_NUMBER)) return (struct slice){0};
    return slice_of(x->text.ptr + token->at, token->end - token->at);
}

static void tools_call(struct mcp_exchange *x, const struct rpc_message *m) {
    const struct json_node *name = m->params != NULL ? json_tree_get(m->params, SLICE("name")) : NULL;
    const struct json_node *args = m->params != NULL ? json_tree_get(m->params, SLICE("arguments")) : NULL;
    char text[200];
    if (name == NULL || name->kind != JSON_TEXT) {
        say_error(x, m->id, RPC_BAD_PARAMS, "tools/call needs `name`, the name of a tool");
        return;
    }
    if (args != NULL && args->kind != JSON_OBJECT && args->kind != JSON_NULL) {
        say_error(x, m->id, RPC_BAD_PARAMS, "`arguments` of tools/call is an object");
        return;
    }
    const struct tool *tool = tool_find(name->text);
    if (tool == NULL) {
        snprintf(text, sizeof text, "Unknown tool: %.*s (tools/list tells which there are)",
                 (int)(name->text.len < 64 ? name->text.len : 64), (const char *)name->text.ptr);
        say_error(x, m->id, RPC_BAD_PARAMS, text);
        return;
    }
    x->id = m->id;
    x->is_calling = true;
    x->deed = (struct tool_call){.tool = tool,
                                 .world = x->world,
                                 .arena = &x->arena,
                                 .trees = &x->trees,
                                 .text = x->text,
                                 .args = args != NULL && args->kind == JSON_OBJECT ? args : NULL,
                                 .progress = progress_of(x, m->params)};
    tool_call_open(&x->deed);
    settle(x);
}

static void notified(struct mcp_exchange *x, const struct rpc_message *m) {
    const struct json_node *id = m->params != NULL ? json_tree_get(m->params, SLICE("requestId")) : NULL;
    if (!slice_eq(m->method, SLICE("notifications/cancelled")) || id == NULL || x->world->cancelled == NULL) return;
    x->world->cancelled(x->world->ctx, slice_of(x->text.ptr + id->at, id->end - id->at));
}

static void serve(struct mcp_exchange *x, const struct json_node *node) {
    static const struct {
        const char *method;
        void (*serve)(struct mcp_exchange *x, const struct rpc_message *m);
    } methods[] = {{"initialize", initialize}, {"ping", ping}, {"tools/list", tools_list}, {"tools/call", tools_call}};
    struct rpc_message m;
    rpc_read(x->text, node, &m);
    if (m.kind == RPC_BAD) say_error(x, m.id, RPC_NOT_A_MESSAGE, m.wrong), x->is_bad = !x->is_batch;
    if (m.kind == RPC_NOTIFICATION) notified(x, &m);
    if (m.kind != RPC_REQUEST) return;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (slice_eq(m.method, slice_str(methods[i].method))) {
            methods[i].serve(x, &m);
            return;
        }
    char text[128];
    snprintf(text, sizeof text, "Method not found: %.*s", (int)(m.method.len < 64 ? m.method.len : 64),
             (const char *)m.method.ptr);
    say_error(x, m.id, RPC_NO_SUCH_METHOD, text);
}

/* ---- an exchange ---- */

static void go_on(struct mcp_exchange *x) {
    while (!x->is_calling && x->next != NULL) {
        const struct json_node *node = x->next;
        x->next = x->is_batch ? node->next : NULL;
        serve(x, node);
    }
    if (!x->is_calling && x->is_batch && x->said_count > 0) json_array_end(&x->json), x->is_batch = false;
}

void mcp_begin(struct mcp_exchange *x, const struct mcp_world *world, enum mcp_revision *revision, struct slice text) {
    const struct json_node *root = NULL;
    struct why why = {{0}};
    *x = (struct mcp_exchange){.world = world, .revision = revision};
    arena_init(&x->arena, 16384, MCP_ARENA_BYTES_MAX);
    arena_init(&x->trees, 16384, MCP_TREES_BYTES_MAX);
    buf_init(&x->said, MCP_SAID_BYTES_MAX);
    json_init(&x->json, &x->said);
    x->text = arena_slice(&x->arena, text);
    enum err e = json_tree_read(x->text, world->limits, &x->trees, &root, &why);
    if (e != ERR_OK) {
        x->is_bad = true;
        say_error(x, (struct slice){0}, RPC_NOT_JSON, why.text);
        return;
    }
    if (root->kind == JSON_ARRAY && (root->count == 0 || root->count > MCP_BATCH_MAX)) {
        x->is_bad = true;
        say_error(x, (struct slice){0}, RPC_NOT_A_MESSAGE, "a batch has 1 to 64 messages");
        return;
    }
    x->is_batch = root->kind == JSON_ARRAY;
    x->next = x->is_batch ? root->first : root;
    go_on(x);
}

const void *mcp_asks(const struct mcp_exchange *x, uint8_t *ret_op) {
    if (!x->is_calling) return NULL;
    *ret_op = x->deed.op;
    return x->deed.message;
}

void mcp_hear(struct mcp_exchange *x, uint8_t op, const void *const *parts, uint32_t count) {
    REQUIRE(x->is_calling);
    tool_call_hear(&x->deed, op, parts, count);
    settle(x);
    go_on(x);
}

void mcp_fail(struct mcp_exchange *x, struct slice why) {
    REQUIRE(x->is_calling);
    tool_call_close(&x->deed);
    x->is_calling = false;
    rpc_error(said_open(x), x->id, RPC_NO_SERVER, why);
    go_on(x);
}

struct slice mcp_said(const struct mcp_exchange *x) {
    static const char full[] =
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,\"message\":\"the answers to "
        "this batch are too long together: send fewer at once\"}}";
    return x->said.full ? slice_str(full) : buf_slice(&x->said);
}

void mcp_end(struct mcp_exchange *x) {
    if (x->is_calling) tool_call_close(&x->deed);
    buf_fini(&x->said);
    arena_fini(&x->arena);
    arena_fini(&x->trees);
}
