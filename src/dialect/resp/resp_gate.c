/* resp_gate.c: who speaks RESP with us: by the listener of its own anybody, as principal `resp`; by any other with a
 * token, or as a user that the kernel vouches for. */
#include <stdio.h>

#include "authenticate.h"
#include "job_token.h"
#include "resp_impl.h"
#include "resp_session.h"
#include "server_impl.h"
#include "session.h"
#include "store_number.h"

void resp_welcome(struct server *s, struct session *n) {
    struct why why = {{0}};
    if (resp_is_own_listener(n) && !(s->options.needs_tls && !n->is_tls)) {
        n->who = (struct caller){.roles = ROLE_BIT(ROLE_SUBMITTER) | ROLE_BIT(ROLE_VIEWER)};
        snprintf(n->who.name, sizeof n->who.name, "%s", RESP_GUEST);
        snprintf(n->who.tenant, sizeof n->who.tenant, "%s",
                 resps_of(s)->options != NULL ? resps_of(s)->options->tenant : "");
    } else if (!n->is_local || authenticate(s, n, (struct slice){0}, (struct slice){0}, &why) != ERR_OK) {
        return;
    }
    n->state = SESSION_OPEN;
}

void resp_be(struct resp_ask *x) {
    const struct caller *who = &x->n->who;
    x->place.tenant = who->tenant[0] != 0 ? slice_str(who->tenant) : SLICE(TENANT_STANDARD);
}

bool resp_login(struct resp_ask *x, struct slice name, struct slice token) {
    struct session *n = x->n;
    struct caller before = n->who;
    struct attempt_effect job = n->job;
    struct why why = {{0}};
    if (x->p->subs.count > 0) {
        resp_error(&x->out, "ERR a subscriber stays who it is: unsubscribe first");
        return false;
    }
    n->job = (struct attempt_effect){0};
    enum err e = token.len == 0 ? why_set(&why, ERR_UNAUTHENTICATED, "a token is expected")
                                : authenticate(x->s, n, token, (struct slice){0}, &why);
    if (e == ERR_OK && name.len > 0 && !slice_eq(name, slice_str(n->who.name)) && !resp_is(name, "default"))
        e = why_set(&why, ERR_UNAUTHENTICATED, "the token is not of that name");
    if (e != ERR_OK) {
        n->who = before;
        n->job = job;
        if (job.job.flow.v != 0) job_token_attend(x->s, n);
        server_log(x->s, SERVER_WARN, "refused", "%s: RESP: %s", n->address, why.text);
        resp_errorf(&x->out, "%s %s", e == ERR_FORBIDDEN ? "NOPERM" : "WRONGPASS", why.text);
        return false;
    }
    n->state = SESSION_OPEN;
    resp_multi_end(x->p); /* keys that were watched may be of another tenant */
    resp_be(x);
    return true;
}

void resp_do_auth(struct resp_ask *x) {
    if (x->count > 3) {
        resp_syntax(x);
        return;
    }
    if (resp_login(x, x->count == 3 ? x->args[1] : (struct slice){0}, x->args[x->count - 1]))
        resp_simple(&x->out, "OK");
}

void resp_do_quit(struct resp_ask *x) {
    resp_simple(&x->out, "OK");
    x->p->ending = true;
}

void resp_do_reset(struct resp_ask *x) {
    struct session *n = x->n;
    resp_channels_stop(x);
    resp_multi_end(x->p);
    x->p->version = x->out.version = 2;
    x->p->name[0] = 0;
    n->who = (struct caller){0};
    n->job = (struct attempt_effect){0};
    n->state = SESSION_NEW;
    n->opened_ms = x->s->world.clock->mono(x->s->world.clock).ms;
    resp_welcome(x->s, n);
    resp_be(x);
    if (n->state == SESSION_NEW) *(conn_id *)vec_push(&x->s->unauthenticated) = n->conn;
    resp_simple(&x->out, "RESET");
}

static bool set_name(struct resp_ask *x, struct slice name) {
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] < '!' || name.ptr[i] > '~') {
            resp_error(&x->out, "ERR Client names cannot contain spaces, newlines or special characters.");
            return false;
        }
    if (name.len >= RESP_NAME_BYTES) {
        resp_errorf(&x->out, "ERR the name is longer than %u bytes", RESP_NAME_BYTES - 1);
        return false;
    }
    snprintf(x->p->name, sizeof x->p->name, "%.*s", SLICE_FMT(name));
    return true;
}

/* ---- hello ---- */

static void put_pair(struct resp_ask *x, const char *name, const char *value) {
    resp_text(&x->out, name);
    resp_text(&x->out, value);
}

static void put_hello(struct resp_ask *x) {
    resp_map(&x->out, 7);
    put_pair(x, "server", "redis"); /* what clients look for; INFO tells the rest */
    put_pair(x, "version", RESP_REDIS_VERSION);
    resp_text(&x->out, "proto");
    resp_number(&x->out, x->p->version);
    resp_text(&x->out, "id");
    resp_number(&x->out, (int64_t)x->n->conn.v);
    put_pair(x, "mode", "standalone");
    put_pair(x, "role", "master");
    resp_text(&x->out, "modules");
    resp_array(&x->out, 0);
}

/* [AUTH name token] [SETNAME name], from the third word on. */
static bool hello_options(struct resp_ask *x) {
    for (uint32_t i = 2; i < x->count;) {
        uint32_t left = x->count - i - 1;
        if (resp_is(x->args[i], "auth") && left >= 2) {
            if (!resp_login(x, x->args[i + 1], x->args[i + 2])) return false;
            i += 3;
        } else if (resp_is(x->args[i], "setname") && left >= 1) {
            if (!set_name(x, x->args[i + 1])) return false;
            i += 2;
        } else {
            resp_errorf(&x->out, "ERR Syntax error in HELLO option '%.*s'",
                        x->args[i].len > 64 ? 64 : (int)x->args[i].len, (const char *)x->args[i].ptr);
            return false;
        }
    }
    return true;
}

void resp_do_hello(struct resp_ask *x) {
    uint8_t version = x->p->version;
    if (x->count > 1) {
        int64_t number = 0;
        if (!store_number(x->args[1], &number)) {
            resp_error(&x->out, "ERR Protocol version is not an integer or out of range");
            return;
        }
        if (number != 2 && number != 3) {
            resp_error(&x->out, "NOPROTO unsupported protocol version");
            return;
        }
        version = (uint8_t)number;
        if (!hello_options(x)) return;
    }
    if (x->n->state == SESSION_NEW) {
        resp_error(
            &x->out,
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH "
            "<user> <pass> option can be used to authenticate the client and select the RESP protocol version "
            "at the same time");
        return;
    }
    x->p->version = x->out.version = version;
    put_hello(x);
}

/* ---- client ---- */

static void put_about(struct resp_ask *x) {
    char text[512];
    snprintf(text, sizeof text, "id=%llu addr=%s name=%s db=0 sub=%u multi=%d resp=%u user=%s\n",
             (unsigned long long)x->n->conn.v, x->n->address, x->p->name, x->p->subs.count,
             x->p->multi ? (int)x->p->queued : -1, x->p->version, x->n->who.name);
    resp_verbatim(&x->out, slice_str(text));
}

void resp_do_client(struct resp_ask *x) {
    struct slice what = x->args[1];
    if (resp_is(what, "setname") && x->count == 3) {
        if (set_name(x, x->args[2])) resp_simple(&x->out, "OK");
    } else if (resp_is(what, "getname") && x->count == 2) {
        if (x->p->name[0] != 0)
            resp_text(&x->out, x->p->name);
        else
            resp_nil(&x->out);
    } else if (resp_is(what, "id") && x->count == 2) {
        resp_number(&x->out, (int64_t)x->n->conn.v);
    } else if (resp_is(what, "info") || resp_is(what, "list")) {
        put_about(x); /* of others nobody hears */
    } else if (resp_is(what, "setinfo") || resp_is(what, "no-evict") || resp_is(what, "no-touch")) {
        resp_simple(&x->out, "OK"); /* nothing follows from it here */
    } else {
        resp_errorf(&x->out, "ERR unknown subcommand or wrong number of arguments for '%.*s'. Try CLIENT HELP.",
                    what.len > 64 ? 64 : (int)what.len, (const char *)what.ptr);
    }
}
