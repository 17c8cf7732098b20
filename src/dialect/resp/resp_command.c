/* resp_command.c: the one table of commands that RESP clients may send, and what is checked before each. */
#include <stdio.h>

#include "requests.h"
#include "resp_impl.h"

#define R RESP_READS
#define W RESP_WRITES
#define S RESP_STRANGER
#define O RESP_AT_ONCE
#define A RESP_ALONE
#define L RESP_LISTENER

/* clang-format off */
/* By name: found by halving.
 * name, function, arity, flags, the request whose rights it uses (requests.h), keys: first, last, step */
const struct resp_command resp_commands[] = {
    {"append",       resp_do_append,      3, W,          WIRE_KV_CHANGE, 1, 1, 1,  "puts text behind the value of a key; its new length"},
    {"auth",         resp_do_auth,       -2, S | A,      0,              0, 0, 0,  "says who is calling: AUTH token, or AUTH name token"},
    {"cad",          resp_do_cad,         3, W,          WIRE_KV_CHANGE, 1, 1, 1,  "compare and delete: CAD key value; 1 = it had this value and is gone"},
    {"cas",          resp_do_cas,         4, W,          WIRE_KV_CHANGE, 1, 1, 1,  "compare and set: CAS key old new; 1 = it had the old value and has the new one"},
    {"casver",       resp_do_casver,      4, W,          WIRE_KV_CHANGE, 1, 1, 1,  "compare and set: CASVER key version new; its new version, 0 = it had another one"},
    {"client",       resp_do_client,     -2, L,          WIRE_PING,      0, 0, 0,  "about this connection: ID, INFO, LIST, SETNAME, GETNAME, SETINFO, NO-EVICT, NO-TOUCH"},
    {"command",      resp_do_command,    -1, 0,          WIRE_PING,      0, 0, 0,  "the commands of this server"},
    {"config",       resp_do_config,     -2, 0,          WIRE_PING,      0, 0, 0,  "CONFIG GET pattern: what programs ask a Redis for"},
    {"dbsize",       resp_do_dbsize,      1, R,          WIRE_KV_GET,    0, 0, 0,  "how many keys there are"},
    {"decr",         resp_do_incr,        2, W,          WIRE_KV_CHANGE, 1, 1, 1,  "one less"},
    {"decrby",       resp_do_incr,        3, W,          WIRE_KV_CHANGE, 1, 1, 1,  "so much less"},
    {"del",          resp_do_del,        -2, W,          WIRE_KV_CHANGE, 1, -1, 1, "deletes keys; how many were there"},
    {"discard",      resp_do_discard,     1, O,          WIRE_PING,      0, 0, 0,  "forgets the transaction"},
    {"echo",         resp_do_echo,        2, 0,          WIRE_PING,      0, 0, 0,  "says it again"},
    {"exec",         resp_do_exec,        1, O,          WIRE_PING,      0, 0, 0,  "does the commands since MULTI, with nothing between them, durable all or none"},
    {"exists",       resp_do_exists,     -2, R,          WIRE_KV_GET,    1, -1, 1, "how many of these keys are there"},
    {"expire",       resp_do_expire,     -3, W,          WIRE_KV_CHANGE, 1, 1, 1,  "the key ends in so many seconds"},
    {"expireat",     resp_do_expire,     -3, W,          WIRE_KV_CHANGE, 1, 1, 1,  "the key ends at this time, in seconds"},
    {"expiretime",   resp_do_ttl,         2, R,          WIRE_KV_GET,    1, 1, 1,  "when the key ends, in seconds; -1 = never, -2 = it is not there"},
    {"get",          resp_do_get,         2, R,          WIRE_KV_GET,    1, 1, 1,  "the value of a key"},
    {"getdel",       resp_do_getdel,      2, W,          WIRE_KV_CHANGE, 1, 1, 1,  "the value of a key, which is deleted"},
    {"getex",        resp_do_getex,      -2, W,          WIRE_KV_CHANGE, 1, 1, 1,  "the value of a key, which gets another time to end"},
    {"getset",       resp_do_getset,      3, W,          WIRE_KV_CHANGE, 1, 1, 1,  "the value of a key, which gets a new one"},
    {"getver",       resp_do_getver,      2, R,          WIRE_KV_GET,    1, 1, 1,  "the value of a key and its version, for CASVER"},
    {"hello",        resp_do_hello,      -1, S | A,      0,              0, 0, 0,  "HELLO [2|3 [AUTH name token] [SETNAME name]]: the protocol from here on"},
    {"incr",         resp_do_incr,        2, W,          WIRE_KV_CHANGE, 1, 1, 1,  "one more"},
    {"incrby",       resp_do_incr,        3, W,          WIRE_KV_CHANGE, 1, 1, 1,  "so much more"},
    {"info",         resp_do_info,       -1, 0,          WIRE_PING,      0, 0, 0,  "about this server"},
    {"keys",         resp_do_keys,        2, R,          WIRE_KV_GET,    0, 0, 0,  "the keys that match a pattern; SCAN is for many"},
    {"mget",         resp_do_mget,       -2, R,          WIRE_KV_GET,    1, -1, 1, "the values of keys"},
    {"mset",         resp_do_mset,       -3, W,          WIRE_KV_CHANGE, 1, -1, 2, "keys and values, all or none"},
    {"multi",        resp_do_multi,       1, O,          WIRE_PING,      0, 0, 0,  "begins a transaction"},
    {"persist",      resp_do_persist,     2, W,          WIRE_KV_CHANGE, 1, 1, 1,  "the key does not end by itself any more"},
    {"pexpire",      resp_do_expire,     -3, W,          WIRE_KV_CHANGE, 1, 1, 1,  "the key ends in so many milliseconds"},
    {"pexpireat",    resp_do_expire,     -3, W,          WIRE_KV_CHANGE, 1, 1, 1,  "the key ends at this time, in milliseconds"},
    {"pexpiretime",  resp_do_ttl,         2, R,          WIRE_KV_GET,    1, 1, 1,  "when the key ends, in milliseconds; -1 = never, -2 = it is not there"},
    {"ping",         resp_do_ping,       -1, L,          WIRE_PING,      0, 0, 0,  "whether anybody is there"},
    {"psetex",       resp_do_setex,       4, W,          WIRE_KV_CHANGE, 1, 1, 1,  "a key with a value that ends in so many milliseconds"},
    {"psubscribe",   resp_do_subscribe,  -2, R | A | L,  WIRE_KV_WATCH,  0, 0, 0,  "messages of all channels that match a pattern"},
    {"pttl",         resp_do_ttl,         2, R,          WIRE_KV_GET,    1, 1, 1,  "milliseconds until the key ends; -1 = it does not, -2 = it is not there"},
    {"publish",      resp_do_publish,     3, W,          WIRE_KV_CHANGE, 0, 0, 0,  "a message to all who have subscribed to the channel; how many they are"},
    {"punsubscribe", resp_do_unsubscribe,-1, A | L,      WIRE_KV_WATCH,  0, 0, 0,  "no more messages of patterns"},
    {"quit",         resp_do_quit,       -1, S | O | L,  0,              0, 0, 0,  "ends the connection"},
    {"reset",        resp_do_reset,       1, S | O | L,  0,              0, 0, 0,  "as if the connection were new"},
    {"sadd",         resp_do_sadd,       -3, W,          WIRE_KV_CHANGE, 1, 1, 1,  "members of a set; how many are new"},
    {"scan",         resp_do_scan,       -2, R,          WIRE_KV_GET,    0, 0, 0,  "SCAN cursor [MATCH pattern] [COUNT n] [TYPE string|set]: a page of the keys"},
    {"scard",        resp_do_scard,       2, R,          WIRE_KV_GET,    1, 1, 1,  "how many members a set has"},
    {"select",       resp_do_select,      2, 0,          WIRE_PING,      0, 0, 0,  "the database, of which there is one: 0"},
    {"set",          resp_do_set,        -3, W,          WIRE_KV_CHANGE, 1, 1, 1,  "SET key value [NX|XX] [GET] [EX s|PX ms|EXAT s|PXAT ms|KEEPTTL]"},
    {"setex",        resp_do_setex,       4, W,          WIRE_KV_CHANGE, 1, 1, 1,  "a key with a value that ends in so many seconds"},
    {"setnx",        resp_do_setnx,       3, W,          WIRE_KV_CHANGE, 1, 1, 1,  "a key with a value, if it is not there; 1 = it was not"},
    {"sismember",    resp_do_sismember,   3, R,          WIRE_KV_GET,    1, 1, 1,  "whether a set has this member"},
    {"smembers",     resp_do_smembers,    2, R,          WIRE_KV_GET,    1, 1, 1,  "the members of a set; SSCAN is for many"},
    {"smismember",   resp_do_smismember, -3, R,          WIRE_KV_GET,    1, 1, 1,  "which of these members a set has"},
    {"srem",         resp_do_sadd,       -3, W,          WIRE_KV_CHANGE, 1, 1, 1,  "members leave a set; how many were there"},
    {"sscan",        resp_do_sscan,      -3, R,          WIRE_KV_GET,    1, 1, 1,  "SSCAN key cursor [MATCH pattern] [COUNT n]: a page of the members"},
    {"strlen",       resp_do_strlen,      2, R,          WIRE_KV_GET,    1, 1, 1,  "how long the value of a key is"},
    {"subscribe",    resp_do_subscribe,  -2, R | A | L,  WIRE_KV_WATCH,  0, 0, 0,  "messages of these channels"},
    {"time",         resp_do_time,        1, 0,          WIRE_PING,      0, 0, 0,  "the time of this server"},
    {"ttl",          resp_do_ttl,         2, R,          WIRE_KV_GET,    1, 1, 1,  "seconds until the key ends; -1 = it does not, -2 = it is not there"},
    {"type",         resp_do_type,        2, R,          WIRE_KV_GET,    1, 1, 1,  "string, set or none"},
    {"unlink",       resp_do_del,        -2, W,          WIRE_KV_CHANGE, 1, -1, 1, "DEL by another name"},
    {"unsubscribe",  resp_do_unsubscribe,-1, A | L,      WIRE_KV_WATCH,  0, 0, 0,  "no more messages of channels"},
    {"unwatch",      resp_do_unwatch,     1, 0,          WIRE_PING,      0, 0, 0,  "forgets the keys of WATCH"},
    {"wait",         resp_do_wait,        3, 0,          WIRE_PING,      0, 0, 0,  "how many replicas have it: 0. What is answered is on this server's disk"},
    {"watch",        resp_do_watch,      -2, R | O,      WIRE_KV_GET,    1, -1, 1, "the next EXEC does nothing if one of these keys has changed"},
};
/* clang-format on */

const uint32_t resp_command_count = sizeof resp_commands / sizeof *resp_commands;

#undef R
#undef W
#undef S
#undef O
#undef A
#undef L

#define NAME_BYTES_MAX 16u

const struct resp_command *resp_command_find(struct slice name) {
    char word[NAME_BYTES_MAX];
    if (name.len == 0 || name.len >= sizeof word) return NULL;
    for (size_t i = 0; i < name.len; i++)
        word[i] = (char)(name.ptr[i] >= 'A' && name.ptr[i] <= 'Z' ? name.ptr[i] | 0x20 : name.ptr[i]);
    word[name.len] = 0;
    uint32_t low = 0, high = resp_command_count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        int order = strcmp(word, resp_commands[mid].name);
        if (order == 0 && strlen(word) == name.len) return &resp_commands[mid];
        if (order <= 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

static void unknown(struct resp_ask *x) {
    char args[128] = "";
    size_t at = 0;
    for (uint32_t i = 1; i < x->count && at + 1 < sizeof args; i++) {
        int put = snprintf(args + at, sizeof args - at, "'%.*s' ", x->args[i].len > 100 ? 100 : (int)x->args[i].len,
                           (const char *)x->args[i].ptr);
        at = put < 0 ? sizeof args : at + (size_t)put;
    }
    resp_errorf(&x->out, "ERR unknown command '%.*s', with args beginning with: %s",
                x->args[0].len > 128 ? 128 : (int)x->args[0].len, (const char *)x->args[0].ptr, args);
}

static bool check_caller(struct resp_ask *x) {
    const struct resp_command *c = x->command;
    struct why why = {{0}};
    if (c->flags & RESP_STRANGER) return true; /* it is about who calls */
    if (x->n->state == SESSION_NEW) {
        resp_error(&x->out, "NOAUTH Authentication required.");
        return false;
    }
    enum err e = request_check(x->s, x->n, c->op, NULL, &why);
    if (e == ERR_FORBIDDEN)
        resp_errorf(&x->out, "NOPERM this user has no permissions to run the '%s' command", c->name);
    else if (e != ERR_OK)
        resp_errorf(&x->out, "NOAUTH %s", why.text);
    if (e == ERR_OK) x->s->checked = x->n->conn;
    return e == ERR_OK;
}

static bool check_keys(struct resp_ask *x) {
    const struct resp_command *c = x->command;
    if (!(c->flags & RESP_WRITES) || c->first_key == 0) return true;
    uint32_t last = c->last_key < 0 ? x->count - 1 : (uint32_t)c->last_key;
    for (uint32_t i = (uint32_t)c->first_key; i <= last; i += (uint8_t)c->step) {
        if (!resp_is_virtual(x->args[i])) continue;
        resp_errorf(&x->out, "ERR '%.*s' is made from the state of jobs and workers: it is read, not written",
                    SLICE_FMT(x->args[i]));
        return false;
    }
    return true;
}

/* Whether it may be served as things stand. */
static bool check(struct resp_ask *x) {
    const struct resp_command *c = x->command = resp_command_find(x->args[0]);
    if (c == NULL && x->n->state == SESSION_NEW) {
        resp_error(&x->out, "NOAUTH Authentication required.");
        return false;
    }
    if (c == NULL) {
        unknown(x);
        return false;
    }
    if (c->arity > 0 ? x->count != (uint32_t)c->arity : (int64_t)x->count < -c->arity) {
        resp_wrong_arity(x);
        return false;
    }
    if (!check_caller(x)) return false;
    if (x->p->subs.count > 0 && x->p->version < 3 && !(c->flags & RESP_LISTENER)) {
        resp_errorf(&x->out,
                    "ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed "
                    "in this context",
                    c->name);
        return false;
    }
    if (x->p->multi && (c->flags & RESP_ALONE)) {
        resp_error(&x->out, "ERR Command not allowed inside a transaction");
        return false;
    }
    return check_keys(x);
}

void resp_command_serve(struct resp_ask *x) {
    if (!check(x)) {
        x->p->aborted |= x->p->multi;
        return;
    }
    if (x->p->multi && !(x->command->flags & RESP_AT_ONCE))
        resp_multi_queue(x);
    else
        x->command->serve(x);
    x->s->checked = (conn_id){0};
}
