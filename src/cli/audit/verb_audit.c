/* verb_audit.c: `reeve audit`: who did what, from the journal, newest first. By default what people and their programs
 * did; with --all also what the server and its workers did. */
#include <stdio.h>

#include "api_print.h"
#include "audit_verbs.h"
#include "out.h"
#include "verbs.h"

#define LIMIT_STANDARD 50u
#define PAGE_MAX 1000u

static void show(struct out_table *t, const struct wire_audit_record *r) {
    char time_text[OUT_TIME_BYTES];
    out_cell(t, OUT_GREY, "%llu", (unsigned long long)r->lsn);
    out_cell(t, OUT_PLAIN, "%s", out_time(r->time_ms, time_text));
    out_slice(t, OUT_BOLD, r->principal);
    out_slice(t, OUT_PLAIN, r->verb);
    out_slice(t, OUT_PLAIN, r->kind);
    out_slice(t, OUT_PLAIN, r->target);
    out_slice(t, OUT_PLAIN, r->text);
}

enum err audit_filter_flags(struct cli *c, struct wire_audit *ret) {
    *ret = (struct wire_audit){.object = cli_flag_text(c, "object"),
                               .principal = cli_flag_text(c, "principal"),
                               .tenant = cli_flag_text(c, "tenant"),
                               .kind = cli_flag_text(c, "type"),
                               .verb = cli_flag_text(c, "verb"),
                               .people = cli_flag(c, "all") == NULL};
    enum err e = cli_flag_moment(c, "since", &ret->since_ms);
    return e == ERR_OK ? cli_flag_moment(c, "until", &ret->until_ms) : e;
}

static enum err query_of(struct cli *c, struct wire_audit *m, uint64_t *most) {
    enum err e = audit_filter_flags(c, m);
    m->cursor = cli_flag_text(c, "cursor");
    return e == ERR_OK ? cli_flag_number(c, "limit", 1000000, most) : e;
}

/* A page may be short although more pages follow: the server looks at a part of the journal at a time. */
static enum err each_page(struct cli *c, struct wire_audit *m, uint64_t most, struct api_print *answer,
                          struct out_table *t) {
    uint64_t left = most;
    do {
        struct client_frame f;
        m->most = left < PAGE_MAX ? (uint32_t)left : PAGE_MAX;
        enum err e = client_ask(&c->client, WIRE_AUDIT, m, &f, c->why);
        if (e != ERR_OK) return e;
        const struct wire_audited *page = f.message;
        const struct wire_audit_record *list = page->records.at;
        for (uint32_t i = 0; i < page->records.count && !c->json; i++) show(t, &list[i]);
        if (c->json) api_print_page(answer, f.op, page);
        left -= page->records.count < left ? page->records.count : left;
        m->cursor = arena_slice(&c->arena, page->cursor);
        if (!c->json || !api_print_keeps(answer)) client_forget(&c->client);
    } while (m->cursor.len > 0 && left > 0);
    return ERR_OK;
}

enum err verb_audit(struct cli *c) {
    static const char *const heads[] = {"LSN", "TIME", "WHO", "VERB", "TYPE", "OBJECT", "WHAT"};
    struct wire_audit m;
    struct api_print answer;
    struct out_table t;
    uint64_t most = LIMIT_STANDARD;
    enum err e = query_of(c, &m, &most);
    if (e == ERR_OK && most == 0) e = cli_refuse(c, ERR_INVALID, "--limit: expected a number from 1 to 1000000");
    if (e != ERR_OK) return e;
    api_print_begin(&answer, c, "/audit");
    out_table_init(&t, c, 7, heads);
    e = each_page(c, &m, most, &answer, &t);
    api_print_end(&answer);
    if (c->json || e != ERR_OK)
        vec_fini(&t.cells);
    else if (t.cells.count > t.columns)
        out_table_end(&t);
    else
        vec_fini(&t.cells), printf("no records%s\n", m.people ? "; --all includes what server and workers did" : "");
    if (e == ERR_OK && m.cursor.len > 0 && !c->json && c->is_terminal)
        fprintf(stderr, "(more: use --limit N or --cursor %.*s)\n", SLICE_FMT(m.cursor));
    return e;
}
