/* resp_about.c: what clients ask about the server, mostly when they begin. */
#include <stdio.h>

#include "pattern.h"
#include "resp_impl.h"
#include "resp_session.h"

void resp_do_ping(struct resp_ask *x) {
    if (x->count > 2) {
        resp_wrong_arity(x);
    } else if (x->p->subs.count > 0 && x->p->version < 3) {
        resp_array(&x->out, 2);
        resp_text(&x->out, "pong");
        resp_bulk(&x->out, x->count == 2 ? x->args[1] : SLICE(""));
    } else if (x->count == 2) {
        resp_bulk(&x->out, x->args[1]);
    } else {
        resp_simple(&x->out, "PONG");
    }
}

void resp_do_echo(struct resp_ask *x) {
    resp_bulk(&x->out, x->args[1]);
}

void resp_do_select(struct resp_ask *x) {
    int64_t index = 0;
    if (!resp_integer(x, x->args[1], &index)) return;
    if (index == 0)
        resp_simple(&x->out, "OK");
    else
        resp_error(&x->out, "ERR DB index is out of range");
}

void resp_do_dbsize(struct resp_ask *x) {
    resp_number(&x->out, (int64_t)view_space_keys(server_state(x->s), x->place));
}

void resp_do_time(struct resp_ask *x) {
    char text[24];
    resp_array(&x->out, 2);
    snprintf(text, sizeof text, "%lld", (long long)(x->now.ms / 1000));
    resp_text(&x->out, text);
    snprintf(text, sizeof text, "%lld", (long long)(x->now.ms % 1000 * 1000));
    resp_text(&x->out, text);
}

void resp_do_wait(struct resp_ask *x) {
    int64_t number = 0;
    if (resp_integer(x, x->args[1], &number) && resp_integer(x, x->args[2], &number)) resp_number(&x->out, 0);
}

/* ---- info ---- */

static bool wants(const struct resp_ask *x, const char *section) {
    for (uint32_t i = 1; i < x->count; i++)
        if (resp_is(x->args[i], section) || resp_is(x->args[i], "all") || resp_is(x->args[i], "default") ||
            resp_is(x->args[i], "everything"))
            return true;
    return x->count == 1;
}

void resp_do_info(struct resp_ask *x) {
    const struct resps *all = resps_of(x->s);
    struct store_counts c = view_store_counts(server_state(x->s), x->place.tenant);
    uint64_t keys = view_space_keys(server_state(x->s), x->place);
    struct buf text;
    buf_init(&text, 8192);
    if (wants(x, "server"))
        buf_printf(&text,
                   "# Server\r\nredis_version:" RESP_REDIS_VERSION "\r\nredis_mode:standalone\r\n"
                   "reeve_version:%.*s\r\nuptime_in_seconds:%lld\r\n\r\n",
                   SLICE_FMT(bytes_slice(x->s->build)), (long long)((x->s->now_ms - all->opened_ms) / 1000));
    if (wants(x, "clients")) buf_printf(&text, "# Clients\r\nconnected_clients:%u\r\n\r\n", all->all.count);
    if (wants(x, "memory"))
        buf_printf(&text, "# Memory\r\nused_memory:%llu\r\nmaxmemory:%lld\r\nmaxmemory_policy:noeviction\r\n\r\n",
                   (unsigned long long)c.bytes, (long long)x->s->limits->store_tenant_bytes_max);
    if (wants(x, "persistence"))
        buf_printf(&text, "# Persistence\r\nloading:0\r\naof_enabled:1\r\naof_last_write_status:%s\r\n\r\n",
                   server_shard(x->s)->append.state == APPEND_FULL ? "err" : "ok");
    if (wants(x, "stats"))
        buf_printf(&text, "# Stats\r\ntotal_commands_processed:%llu\r\n\r\n", (unsigned long long)all->command_count);
    if (wants(x, "replication")) buf_printf(&text, "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n\r\n");
    if (wants(x, "keyspace")) {
        buf_printf(&text, "# Keyspace\r\n");
        if (keys > 0) buf_printf(&text, "db0:keys=%llu,expires=0,avg_ttl=0\r\n", (unsigned long long)keys);
    }
    resp_verbatim(&x->out, buf_slice(&text));
    buf_fini(&text);
}

/* ---- config ---- */

void resp_do_config(struct resp_ask *x) {
    static const char *const known[][2] = {{"appendfsync", "always"}, {"appendonly", "yes"}, {"databases", "1"},
                                           {"maxmemory", "0"},        {"save", ""},          {"timeout", "0"}};
    uint32_t count = sizeof known / sizeof *known, found = 0;
    bool shown[sizeof known / sizeof *known] = {0};
    if (!resp_is(x->args[1], "get") || x->count < 3) {
        resp_error(&x->out, "ERR settings are not changed by CONFIG here: see `reeve settings`");
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 2; k < x->count; k++)
            shown[i] |= pattern_matches(x->args[k], slice_str(known[i][0]), &x->work);
        found += shown[i];
    }
    resp_map(&x->out, found);
    for (uint32_t i = 0; i < count; i++) {
        if (!shown[i]) continue;
        resp_text(&x->out, known[i][0]);
        resp_text(&x->out, known[i][1]);
    }
}

/* ---- command ---- */

static void put_command(struct resp_ask *x, const struct resp_command *c) {
    if (c == NULL) {
        resp_nil(&x->out);
        return;
    }
    bool writes = c->flags & RESP_WRITES, reads = c->flags & RESP_READS;
    resp_array(&x->out, 6);
    resp_text(&x->out, c->name);
    resp_number(&x->out, c->arity);
    resp_set(&x->out, writes || reads);
    if (writes || reads) resp_simple(&x->out, writes ? "write" : "readonly");
    resp_number(&x->out, c->first_key);
    resp_number(&x->out, c->last_key);
    resp_number(&x->out, c->step);
}

static void put_docs(struct resp_ask *x, const struct resp_command *c) {
    resp_text(&x->out, c->name);
    resp_map(&x->out, 1);
    resp_text(&x->out, "summary");
    resp_text(&x->out, c->text);
}

static void put_all(struct resp_ask *x, void (*put)(struct resp_ask *x, const struct resp_command *c)) {
    for (uint32_t i = 0; i < resp_command_count; i++) put(x, &resp_commands[i]);
}

static void docs(struct resp_ask *x) {
    uint32_t known = 0;
    if (x->count == 2) {
        resp_map(&x->out, resp_command_count);
        put_all(x, put_docs);
        return;
    }
    for (uint32_t i = 2; i < x->count; i++) known += resp_command_find(x->args[i]) != NULL;
    resp_map(&x->out, known);
    for (uint32_t i = 2; i < x->count; i++)
        if (resp_command_find(x->args[i]) != NULL) put_docs(x, resp_command_find(x->args[i]));
}

static void put_name(struct resp_ask *x, const struct resp_command *c) {
    resp_text(&x->out, c->name);
}

void resp_do_command(struct resp_ask *x) {
    if (x->count == 1 || (x->count == 2 && resp_is(x->args[1], "info"))) {
        resp_array(&x->out, resp_command_count);
        put_all(x, put_command);
    } else if (resp_is(x->args[1], "count")) {
        resp_number(&x->out, resp_command_count);
    } else if (resp_is(x->args[1], "docs")) {
        docs(x);
    } else if (resp_is(x->args[1], "list")) {
        resp_array(&x->out, resp_command_count);
        put_all(x, put_name);
    } else if (resp_is(x->args[1], "info")) {
        resp_array(&x->out, x->count - 2);
        for (uint32_t i = 2; i < x->count; i++) put_command(x, resp_command_find(x->args[i]));
    } else {
        resp_errorf(&x->out, "ERR unknown subcommand '%.*s'. Try COMMAND HELP.",
                    x->args[1].len > 64 ? 64 : (int)x->args[1].len, (const char *)x->args[1].ptr);
    }
}
