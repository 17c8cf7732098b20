/* titan_web.h: the HTTP interface of Titan's dashboard (proto/titan/titan_http.h), on a listener of its own. A
 * connection has a `web` beside it as by HTTP, and a talk as by Titan's protocol: the dashboard is a client of Titan's
 * master, so a request is answered by what a frame would be, or by several, or by messages of the wire, one after the
 * other (titan_session.h). There are no callers: whoever may reach the listener, and is no page of another origin, is
 * the principal `titan`. */
#ifndef REEVE_TITAN_WEB_H
#define REEVE_TITAN_WEB_H

#include "dialect.h"
#include "server_impl.h"
#include "titan_http.h"
#include "titan_impl.h"

void titan_web_init(struct server *s);

extern const struct dialect_ops titan_web_dialect;

/* ---- for those who serve a request ---- */

/* What was written with web_json is the answer: the last word about a request, which is gone with everything in the
 * arena of the talk when this returns. */
void titan_page_say(struct server *s, struct session *n, uint16_t status);
void titan_page_text(struct server *s, struct session *n, struct slice text); /* the same as plain text */
/* {"error": text}. What is longer than a line is cut. */
void titan_page_error(struct server *s, struct session *n, uint16_t status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* {"status": "error", key: text} */
void titan_page_failed(struct server *s, struct session *n, uint16_t status, const char *key, struct slice text);
/* True: the message was refused, and the request was answered with {"error": …}. */
bool titan_page_refused(struct server *s, struct session *n, uint8_t op, const void *message);
/* Has a frame served, whose answer goes to `said`. */
void titan_page_call(struct server *s, struct session *n, titan_serve_fn serve, struct slice body, titan_said_fn said);
struct slice titan_page_reason(struct slice text); /* what a frame was answered, without ERROR before it */
/* Text in the arena of the talk. */
struct slice titan_page_print(struct session *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Each key of the tenant that begins so, from page to page; `take` is told the rest of its name. */
struct titan_walk {
    const char *prefix;
    uint32_t most; /* of one page */
    void (*take)(struct session *n, struct slice name, const struct wire_kv_item *item);
    void (*done)(struct server *s, struct session *n);
};
void titan_page_walk(struct server *s, struct session *n, const struct titan_walk *w);

typedef void (*titan_page_fn)(struct server *s, struct session *n, struct slice word);

/* titan_web_dag.c */
void titan_page_submit(struct server *s, struct session *n, struct slice word);
/* titan_web_again.c */
void titan_page_redeploy(struct server *s, struct session *n, struct slice word);
void titan_page_replay(struct server *s, struct session *n, struct slice word);
/* titan_web_manifest.c */
void titan_page_manifest(struct server *s, struct session *n, struct slice word);
/* titan_web_draft.c */
void titan_page_draft_save(struct server *s, struct session *n, struct slice word);
void titan_page_drafts(struct server *s, struct session *n, struct slice word);
void titan_page_draft(struct server *s, struct session *n, struct slice word);
/* titan_web_job.c */
void titan_page_logs(struct server *s, struct session *n, struct slice word);
void titan_page_dags(struct server *s, struct session *n, struct slice word);
void titan_page_dag_cancel(struct server *s, struct session *n, struct slice word);
void titan_page_job_cancel(struct server *s, struct session *n, struct slice word);
void titan_page_launch(struct server *s, struct session *n, struct slice word);
/* titan_web_hitl.c */
void titan_page_pending(struct server *s, struct session *n, struct slice word);
void titan_page_approve(struct server *s, struct session *n, struct slice word);
void titan_page_reject(struct server *s, struct session *n, struct slice word);
/* titan_web_file.c */
void titan_page_files(struct server *s, struct session *n, struct slice word);
void titan_page_file(struct server *s, struct session *n, struct slice word);
void titan_page_scripts(struct server *s, struct session *n, struct slice word);
void titan_page_upload(struct server *s, struct session *n, struct slice word);

#endif
