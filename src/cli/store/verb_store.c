/* verb_store.c: the shared store of keys, and tokens. */
#include <stdio.h>

#include "api_print.h"
#include "out.h"
#include "spec_value.h"
#include "verbs.h"

static void print_items(const struct wire_kv_items *m, bool keys) {
    const struct wire_kv_item *items = m->items.at;
    const struct wire_kv_key *members = m->members.at;
    for (uint32_t i = 0; i < m->items.count; i++) {
        const struct wire_kv_item *v = &items[i];
        bool is_text = slice_eq(v->kind, SLICE("text"));
        if (keys) out_clean(stdout, v->key), fputs("  ", stdout);
        if (is_text && keys)
            out_clean(stdout, v->value); /* a list is for people; `kv get` gives the bytes */
        else if (is_text)
            fwrite(v->value.ptr, 1, v->value.len, stdout);
        else if (slice_eq(v->kind, SLICE("set")))
            printf("(%lld members)", (long long)v->number);
        else
            printf("%lld", (long long)v->number);
        printf("\n");
    }
    for (uint32_t i = 0; i < m->members.count; i++)
        fwrite(members[i].text.ptr, 1, members[i].text.len, stdout), printf("\n");
}

static struct tlv_list arg_keys(struct cli *c, int from) {
    struct tlv_list names = cli_names(c, from); /* the same form: one slice each */
    _Static_assert(sizeof(struct wire_name) == sizeof(struct wire_kv_key), "one slice each");
    return names;
}

static enum err print_members(struct cli *c, struct wire_kv_get *m) {
    struct api_print answer;
    enum err e;
    m->members = true;
    api_print_begin(&answer, c, "/store");
    do {
        struct client_frame f;
        e = client_ask(&c->client, WIRE_KV_GET, m, &f, c->why);
        if (e != ERR_OK) break;
        const struct wire_kv_items *got = f.message;
        struct wire_kv_items only = {.members = got->members};
        if (c->json)
            api_print_page(&answer, f.op, got);
        else
            print_items(&only, false);
        m->after = got->after;
    } while (m->after.len > 0);
    api_print_end(&answer);
    return e;
}

enum err verb_kv_get(struct cli *c) {
    struct client_frame f;
    struct wire_kv_get m = {.flow = cli_flag_text(c, "flow"), .keys = arg_keys(c, 0)};
    enum err e = client_ask(&c->client, WIRE_KV_GET, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_kv_items *got = f.message;
    const struct wire_kv_item *items = got->items.at;
    if (c->arg_count == 1 && got->items.count == 1 && slice_eq(items[0].kind, SLICE("set")))
        return print_members(c, &m);
    if (c->json)
        api_print_answer(c, "/store", f.op, got);
    else
        print_items(got, c->arg_count > 1);
    if (got->items.count < (uint32_t)c->arg_count)
        return cli_refuse(c, ERR_NOT_FOUND, c->arg_count == 1 ? "there is no key %s" : "some keys do not exist",
                          c->args[0]);
    return e;
}

/* On a terminal, as a table that has room there; else lines of a key, two blanks and its value, for scripts. */
static void list_items(struct out_table *t, const struct wire_kv_items *m) {
    const struct wire_kv_item *items = m->items.at;
    if (!out_is_cut(t->cli)) {
        print_items(m, true);
        return;
    }
    for (uint32_t i = 0; i < m->items.count; i++) {
        out_slice(t, OUT_BOLD, items[i].key);
        if (slice_eq(items[i].kind, SLICE("text")))
            out_slice(t, OUT_PLAIN, items[i].value);
        else
            out_cell(t, OUT_PLAIN, slice_eq(items[i].kind, SLICE("set")) ? "(%lld members)" : "%lld",
                     (long long)items[i].number);
    }
}

enum err verb_kv_ls(struct cli *c) {
    static const char *const heads[] = {"KEY", "VALUE"};
    uint64_t most = 50;
    struct out_table t;
    struct api_print answer;
    struct wire_kv_get m = {.flow = cli_flag_text(c, "flow")};
    if (c->arg_count > 0) m.prefix = slice_str(c->args[0]);
    enum err e = cli_flag_number(c, "limit", 1000000, &most);
    if (cli_flag(c, "all") != NULL) most = UINT64_MAX;
    out_table_init(&t, c, 2, heads);
    api_print_begin(&answer, c, "/store");
    while (e == ERR_OK && most > 0) {
        struct client_frame f;
        m.most = most > 1000 ? 1000 : (uint32_t)most;
        e = client_ask(&c->client, WIRE_KV_GET, &m, &f, c->why);
        if (e != ERR_OK) break;
        const struct wire_kv_items *got = f.message;
        if (c->json)
            api_print_page(&answer, f.op, got);
        else
            list_items(&t, got);
        most -= got->items.count < most ? got->items.count : most;
        if (got->after.len == 0) break;
        m.after = got->after;
    }
    api_print_end(&answer);
    if (e == ERR_OK && !c->json && out_is_cut(c))
        out_table_end(&t);
    else
        vec_fini(&t.cells);
    return e;
}

static enum err condition(struct cli *c, struct wire_kv_change *m) {
    bool absent = cli_flag(c, "if-absent") != NULL, present = cli_flag(c, "if-present") != NULL;
    bool version = cli_flag(c, "if-version") != NULL;
    if (absent + present + version > 1)
        return cli_refuse(c, ERR_INVALID, "pass only one of --if-absent, --if-present and --if-version");
    if (absent) m->condition = WIRE_KV_IF_ABSENT;
    if (present) m->condition = WIRE_KV_IF_PRESENT;
    if (version) m->condition = WIRE_KV_IF_VERSION;
    return cli_flag_number(c, "if-version", UINT64_MAX / 4, &m->version);
}

/* The words after `kv`, and what they are on the wire. */
static enum err change_of(struct cli *c, struct wire_kv_change *m) {
    const char *word = c->verb->words + 3;
    uint32_t count = (uint32_t)c->arg_count;
    struct wire_kv_entry *entries = ARENA_ARRAY(&c->arena, struct wire_kv_entry, count);
    m->key = slice_str(c->args[0]);
    if (strcmp(word, "set") == 0 || strcmp(word, "del") == 0) {
        bool set = word[0] == 's';
        m->op = set ? WIRE_KV_SET : WIRE_KV_DELETE;
        m->key = (struct slice){0};
        for (uint32_t i = 0; i < (set ? 1 : count); i++) entries[i].key = slice_str(c->args[i]);
        if (set) entries[0].value = slice_str(c->args[1]);
        m->entries = (struct tlv_list){entries, set ? 1 : count};
    } else if (strcmp(word, "incr") == 0) {
        m->op = WIRE_KV_INCREASE;
        m->number = 1;
        if (count > 1 && !spec_number(slice_str(c->args[1]), &m->number))
            return cli_refuse(c, ERR_INVALID, "expected a number, found `%s`", c->args[1]);
    } else if (strcmp(word, "add") == 0 || strcmp(word, "rem") == 0) {
        m->op = word[0] == 'a' ? WIRE_KV_ADD : WIRE_KV_REMOVE;
        m->members = arg_keys(c, 1);
    } else if (strcmp(word, "expire") == 0) {
        m->op = WIRE_KV_EXPIRE;
    } else {
        m->op = WIRE_KV_PUBLISH;
        m->value = slice_str(c->args[1]);
    }
    return ERR_OK;
}

enum err verb_kv_change(struct cli *c) {
    struct wire_kv_change m = {.flow = cli_flag_text(c, "flow")};
    struct client_frame f;
    int64_t ttl = 0;
    enum err e = change_of(c, &m);
    if (e == ERR_OK) e = condition(c, &m);
    if (e == ERR_OK) e = cli_flag_duration(c, "ttl", &ttl);
    if (ttl > 0) m.expires_ms = c->world->clock->wall(c->world->clock).ms + ttl;
    if (e == ERR_OK) e = client_ask(&c->client, WIRE_KV_CHANGE, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_kv_changed *got = f.message;
    if (c->json)
        api_print_answer(c, "POST /store", WIRE_KV_CHANGED, got);
    else if (m.op == WIRE_KV_SET)
        printf("version %llu\n", (unsigned long long)got->version);
    else
        printf("%lld\n", (long long)got->number);
    return ERR_OK;
}

enum err verb_kv_watch(struct cli *c) {
    struct client_frame f;
    uint64_t most = UINT64_MAX;
    struct wire_kv_watch m = {.flow = cli_flag_text(c, "flow"), .key = slice_str(c->args[0])};
    if (m.key.len > 0 && m.key.ptr[m.key.len - 1] == '*') {
        m.key.len--;
        m.prefix = true;
    }
    enum err e = cli_flag_number(c, "count", 1000000000, &most);
    if (e == ERR_OK) e = client_ask(&c->client, WIRE_KV_WATCH, &m, &f, c->why);
    /* The first frame only says that the watch is on. */
    if (e == ERR_OK) e = client_answer(&c->client, f.request, &f, c->why);
    while (e == ERR_OK && most > 0) {
        const struct wire_kv_event *v = f.message;
        if (f.op == WIRE_KV_EVENT && (v->key.len > 0 || v->gap)) {
            most--;
            if (c->json)
                api_print_line(c, &wire_kv_event_desc, v);
            else if (v->gap)
                printf("(some changes were missed)\n");
            else
                out_say(stdout, "%.*s version %llu%s", SLICE_FMT(v->key), (unsigned long long)v->version,
                        v->version == 0 ? " (gone)" : "");
            fflush(stdout);
        }
        client_forget(&c->client);
        if (most > 0) e = client_answer(&c->client, f.request, &f, c->why);
    }
    return e;
}

/* ---- tokens ---- */

/* A job has its token from the server alone. */
static enum err kind_of(struct cli *c, uint8_t *ret) {
    struct slice word = cli_flag_text(c, "kind");
    *ret = WIRE_PRINCIPAL_UNKNOWN;
    for (uint8_t i = WIRE_PRINCIPAL_PERSON; i < WIRE_PRINCIPAL_JOB; i++)
        if (slice_eq(word, slice_str(wire_principal_words[i]))) *ret = i;
    if (word.len == 0 || *ret != WIRE_PRINCIPAL_UNKNOWN) return ERR_OK;
    return cli_refuse(c, ERR_INVALID, "--kind %.*s: expected person, service, agent or worker", SLICE_FMT(word));
}

enum err verb_token_new(struct cli *c) {
    struct client_frame f;
    struct wire_name *roles = ARENA_ARRAY(&c->arena, struct wire_name, CLI_GIVEN_MAX);
    const char *value;
    uint32_t count = 0;
    int64_t valid = 0;
    uint8_t kind = 0;
    for (uint32_t at = 0; (value = cli_flag_next(c, "role", &at)) != NULL;) roles[count++].name = slice_str(value);
    enum err e = cli_flag_duration(c, "expires", &valid);
    if (e == ERR_OK) e = kind_of(c, &kind);
    if (e == ERR_OK && count == 0)
        e = cli_refuse(c, ERR_INVALID, "a token needs a role: pass --role, like --role submitter");
    if (e != ERR_OK) return e;
    struct wire_token_new m = {.name = slice_str(c->args[0]),
                               .tenant = cli_flag_text(c, "tenant"),
                               .roles = {roles, count},
                               .expires_ms = valid > 0 ? c->world->clock->wall(c->world->clock).ms + valid : 0,
                               .kind = kind};
    e = client_ask(&c->client, WIRE_TOKEN_NEW, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_token_given *got = f.message;
    if (c->json)
        api_print_answer(c, "POST /tokens", WIRE_TOKEN_GIVEN, got);
    else
        printf("%.*s\n", SLICE_FMT(got->token));
    if (!c->json && c->is_terminal) fprintf(stderr, "(id %.*s; the token is not shown again)\n", SLICE_FMT(got->id));
    return ERR_OK;
}

enum err verb_token_ls(struct cli *c) {
    static const char *const heads[] = {"ID", "NAME", "KIND", "TENANT", "ROLES", "MADE", "EXPIRES"};
    struct client_frame f;
    struct wire_page m = {0};
    struct out_table t;
    char when[OUT_TIME_BYTES];
    enum err e = client_ask(&c->client, WIRE_TOKEN_LS, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_token_list *got = f.message;
    const struct wire_token_view *list = got->tokens.at;
    if (c->json) {
        api_print_answer(c, "/tokens", f.op, got);
        return ERR_OK;
    }
    out_table_init(&t, c, 7, heads);
    for (uint32_t i = 0; i < got->tokens.count; i++) {
        const struct wire_token_view *v = &list[i];
        const struct wire_name *roles = v->roles.at;
        struct buf words;
        buf_init(&words, 256);
        for (uint32_t k = 0; k < v->roles.count; k++)
            buf_printf(&words, "%s%.*s", k ? "," : "", SLICE_FMT(roles[k].name));
        out_slice(&t, OUT_BOLD, v->id);
        out_slice(&t, OUT_PLAIN, v->name);
        out_cell(&t, OUT_PLAIN, "%s", wire_principal_words[v->kind]);
        out_slice(&t, OUT_PLAIN, v->tenant);
        out_slice(&t, OUT_PLAIN, buf_slice(&words));
        out_cell(&t, OUT_PLAIN, "%s", out_time(v->created_ms, when));
        out_cell(&t, OUT_PLAIN, "%s", out_time(v->expires_ms, when));
        buf_fini(&words);
    }
    out_table_end(&t);
    return ERR_OK;
}

enum err verb_token_revoke(struct cli *c) {
    struct client_frame f;
    struct wire_targets m = {.targets = cli_names(c, 0)};
    enum err e = client_ask(&c->client, WIRE_TOKEN_REVOKE, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_accepted *got = f.message;
    const struct wire_result *list = got->results.at;
    for (uint32_t i = 0; i < got->results.count; i++)
        if (list[i].code.len > 0)
            return cli_refuse(c, client_err(list[i].code), "%.*s: %.*s", SLICE_FMT(list[i].target),
                              SLICE_FMT(list[i].message));
    if (c->json)
        api_print_answer(c, got->results.count == 1 ? "DELETE /tokens/{id}" : "POST /dead/retry", WIRE_ACCEPTED, got);
    else
        printf("%d revoked\n", c->arg_count);
    return ERR_OK;
}
