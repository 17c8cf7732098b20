/* serve_forward.c: see serve_forward.h. */
#include "serve_forward.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forward_target.h"
#include "osclock.h"

#define TELL_MS 200   /* between two words to the child: batches come more often than anybody wants to hear */
#define AGAIN_MS 5000 /* after it has ended */

static int64_t now_ms(void) {
    return osclock()->mono(osclock()).ms;
}

enum err serve_forward_check(const struct settings *s, struct why *why) {
    const char *target = setting_text(s, SETTING_audit_forward);
    return target[0] != 0 ? forward_target_check(target, why) : ERR_OK;
}

/* ---- its words ---- */

/* "at LSN" or "bad TEXT". Trouble is logged when it begins and when it is over. */
static void line(void *ctx, struct slice text) {
    struct serve_forward *f = ctx;
    char words[SETTING_TEXT_MAX + 256];
    snprintf(words, sizeof words, "%.*s", SLICE_FMT(text));
    bool is_bad = strncmp(words, "bad ", 4) == 0;
    if (is_bad) {
        if (!f->is_bad) f->log(f->log_ctx, SERVER_WARN, "audit", words + 4);
        server_forward_failed(f->server);
    } else if (strncmp(words, "at ", 3) == 0) {
        if (f->is_bad) f->log(f->log_ctx, SERVER_INFO, "audit", "the audit trail is handed on again");
        server_forwarded(f->server, strtoull(words + 3, NULL, 10));
    }
    f->is_bad = is_bad;
}

static void ended(void *ctx) {
    struct serve_forward *f = ctx;
    f->has_ended = true;
    f->again_ms = now_ms() + AGAIN_MS;
}

/* ---- turns ---- */

static void start(struct serve_forward *f) {
    const struct osforward_handler h = {line, ended, f};
    osforward_stop(f->child);
    f->has_ended = false;
    f->child = osforward_start(f->loop, f->args, &h);
    f->told_lsn = 0;
    f->again_ms = now_ms() + AGAIN_MS;
}

void serve_forward_open(struct serve_forward *f, const struct settings *s, const char *locator) {
    const char *target = setting_text(s, SETTING_audit_forward);
    if (target[0] == 0 || locator == NULL) return;
    snprintf(f->kept, sizeof f->kept, "%s/audit.forwarded", setting_text(s, SETTING_data));
    f->args[0] = locator;
    f->args[1] = target;
    f->args[2] = f->kept;
    f->args[3] = setting_text(s, SETTING_audit_forward_format);
    f->args[4] = setting_is(s, SETTING_audit_forward_all) ? "everything" : "people";
    f->args[5] = setting_text(s, SETTING_audit_forward_headers);
    f->is_on = true;
    start(f);
}

void serve_forward_pass(struct serve_forward *f) {
    if (!f->is_on) return;
    uint64_t durable = server_durable_lsn(f->server);
    int64_t now = now_ms();
    if ((f->child == NULL || f->has_ended) && now >= f->again_ms) start(f);
    if (f->child == NULL || durable == f->told_lsn || now < f->told_ms + TELL_MS) return;
    f->told_lsn = durable;
    f->told_ms = now;
    osforward_upto(f->child, durable);
}

mono_time serve_forward_next(const struct serve_forward *f) {
    if (!f->is_on) return (mono_time){TIME_NEVER};
    if (f->child == NULL || f->has_ended) return (mono_time){f->again_ms};
    return (mono_time){server_durable_lsn(f->server) != f->told_lsn ? f->told_ms + TELL_MS : TIME_NEVER};
}

void serve_forward_close(struct serve_forward *f) {
    osforward_stop(f->child);
    f->child = NULL;
    f->is_on = false;
}
