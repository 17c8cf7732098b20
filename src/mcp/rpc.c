/* rpc.c: see rpc.h. */
#include "rpc.h"

static struct rpc_message bad(struct slice id, const char *wrong) {
    return (struct rpc_message){.kind = RPC_BAD, .id = id, .wrong = wrong};
}

/* A text or a number that is whole: a fraction could not be told from its neighbour. */
static bool id_is_good(const struct json_node *id) {
    int64_t ignored;
    return id->kind == JSON_TEXT || (id->kind == JSON_NUMBER && json_number_i64(id->text, &ignored) == ERR_OK);
}

void rpc_read(struct slice text, const struct json_node *node, struct rpc_message *ret) {
    const struct json_node *version = json_tree_get(node, SLICE("jsonrpc")), *id = json_tree_get(node, SLICE("id"));
    const struct json_node *method = json_tree_get(node, SLICE("method"));
    const struct json_node *params = json_tree_get(node, SLICE("params"));
    bool is_good = id != NULL && id_is_good(id);
    struct slice raw = is_good ? slice_of(text.ptr + id->at, id->end - id->at) : (struct slice){0};
    *ret = (struct rpc_message){.kind = id != NULL ? RPC_REQUEST : RPC_NOTIFICATION, .id = raw, .params = params};
    if (node->kind != JSON_OBJECT)
        *ret = bad(raw, "a message is a JSON object");
    else if (version == NULL || version->kind != JSON_TEXT || !slice_eq(version->text, SLICE("2.0")))
        *ret = bad(raw, "expected \"jsonrpc\": \"2.0\"");
    else if (id != NULL && !is_good)
        *ret = bad(raw, "`id` is a text or a whole number");
    else if (method == NULL)
        *ret = json_tree_get(node, SLICE("result")) != NULL || json_tree_get(node, SLICE("error")) != NULL
                   ? (struct rpc_message){.kind = RPC_RESPONSE, .id = raw}
                   : bad(raw, "a message has a `method`");
    else if (method->kind != JSON_TEXT)
        *ret = bad(raw, "`method` is a text");
    else if (params != NULL && params->kind != JSON_OBJECT)
        *ret = bad(raw, "`params` is an object");
    else
        ret->method = method->text;
}

static void begin(struct json *j, struct slice id) {
    json_object(j);
    json_key(j, "jsonrpc");
    json_str(j, "2.0");
    json_key(j, "id");
    if (id.len > 0)
        json_raw(j, id);
    else
        json_null(j);
}

void rpc_result(struct json *j, struct slice id) {
    begin(j, id);
    json_key(j, "result");
}

void rpc_error(struct json *j, struct slice id, enum rpc_code code, struct slice message) {
    begin(j, id);
    json_key(j, "error");
    json_object(j);
    json_key(j, "code");
    json_i64(j, code);
    json_key(j, "message");
    json_text(j, message);
    json_object_end(j);
    json_object_end(j);
}
