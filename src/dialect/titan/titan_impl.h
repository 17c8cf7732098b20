/* titan_impl.h: what serves each frame of Titan's protocol, by file. */
#ifndef REEVE_TITAN_IMPL_H
#define REEVE_TITAN_IMPL_H

#include "server_impl.h"
#include "titan.h"
#include "titan_session.h"

typedef void (*titan_serve_fn)(struct server *s, struct session *n, struct slice body);

/* titan_store.c */
void titan_kv_set(struct server *s, struct session *n, struct slice body);
void titan_kv_get(struct server *s, struct session *n, struct slice body);
void titan_kv_sadd(struct server *s, struct session *n, struct slice body);
void titan_kv_smembers(struct server *s, struct session *n, struct slice body);

/* titan_submit.c */
void titan_submit_job(struct server *s, struct session *n, struct slice body);
void titan_submit_dag(struct server *s, struct session *n, struct slice body);
void titan_deploy(struct server *s, struct session *n, struct slice body);
void titan_run(struct server *s, struct session *n, struct slice body);

/* titan_jobs.c */
void titan_status(struct server *s, struct session *n, struct slice body);
void titan_cancel(struct server *s, struct session *n, struct slice body);
void titan_logs(struct server *s, struct session *n, struct slice body);

/* titan_files.c */
void titan_upload(struct server *s, struct session *n, struct slice body);
void titan_fetch(struct server *s, struct session *n, struct slice body);
void titan_deploy_script(struct server *s, struct session *n, struct slice body);

/* titan_admin.c */
void titan_stats(struct server *s, struct session *n, struct slice body);
void titan_stats_json(struct server *s, struct session *n, struct slice body);
void titan_clean_stats(struct server *s, struct session *n, struct slice body);
void titan_stop(struct server *s, struct session *n, struct slice body);
void titan_kill_worker(struct server *s, struct session *n, struct slice body);

#endif
