/* verb_export.c: `reeve audit export`: the audit trail as lines for other programs, oldest first: as evidence that
 * `reeve audit verify --from` checks without a server, or as events of OCSF. From the server, or with --offline from
 * the journal in its directory. */
#include <errno.h>
#include <stdio.h>

#include "audit_export.h"
#include "audit_verbs.h"
#include "ids.h"
#include "out.h"
#include "server_choice.h"
#include "verbs.h"

#define PAGE_BYTES ((size_t)1 << 20)

struct export_target {
    FILE *to;
    const char *path; /* NULL = standard output */
};

static enum err target_open(struct cli *c, struct export_target *ret) {
    const char *path = cli_flag(c, "output");
    *ret = (struct export_target){stdout, path};
    if (path != NULL) ret->to = fopen(path, "we");
    return ret->to != NULL ? ERR_OK : cli_refuse(c, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
}

static enum err target_put(struct cli *c, const struct export_target *t, struct slice lines) {
    if (fwrite(lines.ptr, 1, lines.len, t->to) == lines.len) return ERR_OK;
    return cli_refuse(c, ERR_IO, "%s: %s", t->path != NULL ? t->path : "output", strerrordesc_np(errno));
}

static enum err target_close(struct cli *c, const struct export_target *t, enum err e) {
    if (t->path == NULL || (fclose(t->to) == 0 && e == ERR_OK)) return e;
    return e != ERR_OK ? e : cli_refuse(c, ERR_IO, "%s: %s", t->path, strerrordesc_np(errno));
}

/* ---- by the server ---- */

static enum err by_server(struct cli *c, const struct wire_audit *filter, const struct export_target *t) {
    struct wire_audit_export m = {.filter = *filter, .format = cli_flag_text(c, "format")};
    enum err e = cli_connect(c);
    while (e == ERR_OK) {
        struct client_frame f;
        e = client_ask(&c->client, WIRE_AUDIT_EXPORT, &m, &f, c->why);
        if (e != ERR_OK) break;
        const struct wire_audit_exported *page = f.message;
        e = target_put(c, t, page->lines);
        m.filter.cursor = arena_slice(&c->arena, page->cursor);
        client_forget(&c->client);
        if (m.filter.cursor.len == 0) break;
    }
    return e;
}

/* ---- by its journal ---- */

static enum err filter_offline(struct cli *c, const struct wire_audit *m, struct audit_filter *ret) {
    uint32_t shard;
    flow_id flow = {0};
    *ret = (struct audit_filter){.principal = m->principal,
                                 .tenant = m->tenant,
                                 .kind = m->kind,
                                 .verb = m->verb,
                                 .people = m->people,
                                 .since_ms = m->since_ms,
                                 .until_ms = m->until_ms};
    if (m->object.len > 0 && flow_parse(m->object, &shard, &flow))
        ret->flow = flow.v;
    else
        ret->object = m->object;
    (void)c;
    return ERR_OK;
}

static enum err pages_offline(struct cli *c, struct audit_export *x, const struct export_target *t) {
    uint64_t lsn = 0;
    bool more = true;
    struct buf lines;
    enum err e = ERR_OK;
    buf_init(&lines, (size_t)1 << 28);
    while (e == ERR_OK && more) {
        buf_clear(&lines);
        e = audit_export_page(x, &lsn, &lines, &more, c->why);
        if (e == ERR_OK) e = target_put(c, t, buf_slice(&lines));
    }
    buf_fini(&lines);
    return e;
}

static enum err offline(struct cli *c, const struct wire_audit *filter, const struct export_target *t) {
    struct cli_journal j;
    struct audit_export x = {.hasher = c->world->hasher,
                             .program = c->world->build,
                             .upto_lsn = UINT64_MAX - 1,
                             .page_bytes = PAGE_BYTES};
    if (slice_eq(cli_flag_text(c, "format"), SLICE("ocsf"))) x.format = AUDIT_OCSF;
    enum err e = filter_offline(c, filter, &x.filter);
    if (e == ERR_OK) e = audit_journal_open(c, server_choice_data(c), &j);
    if (e != ERR_OK) return e;
    x.reader = j.reader;
    e = pages_offline(c, &x, t);
    c->world->journal_close(&j);
    return e;
}

enum err verb_audit_export(struct cli *c) {
    struct wire_audit filter;
    struct export_target t;
    struct slice format = cli_flag_text(c, "format");
    if (format.len > 0 && !slice_eq(format, SLICE("jsonl")) && !slice_eq(format, SLICE("ocsf")))
        return cli_refuse(c, ERR_INVALID, "--format: expected jsonl or ocsf, found `%.*s`", SLICE_FMT(format));
    enum err e = audit_filter_flags(c, &filter);
    if (e == ERR_OK) e = target_open(c, &t);
    if (e != ERR_OK) return e;
    e = cli_flag(c, "offline") != NULL ? offline(c, &filter, &t) : by_server(c, &filter, &t);
    return target_close(c, &t, e);
}
