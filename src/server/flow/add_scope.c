/* add_scope.c: see add_scope.h. Pools and priority of what is added are the engine's business
 * (core/decide/decide_adder.c); bodies are opaque to it. */
#include "add_scope.h"

#include "wire_run.h"

static bool is_below(struct slice path, const struct tlv_list *tops) {
    const struct wire_arg *list = tops->at;
    for (uint32_t i = 0; i < tops->count; i++) {
        struct slice top = list[i].text;
        if (path.len < top.len || memcmp(path.ptr, top.ptr, top.len) != 0) continue;
        if (path.len == top.len || path.ptr[top.len] == '/') return true;
    }
    return false;
}

static bool are_below(const struct tlv_list *paths, const struct tlv_list *tops, const struct tlv_list *more) {
    const struct wire_arg *list = paths->at;
    for (uint32_t i = 0; i < paths->count; i++)
        if (!is_below(list[i].text, tops) && (more == NULL || !is_below(list[i].text, more))) return false;
    return true;
}

static bool is_as_tight(const struct wire_run *own, uint8_t kind, struct slice body, struct arena *arena) {
    struct wire_run run;
    struct why ignored;
    if (tlv_decode(&wire_run_desc, body, TLV_SKIP_UNKNOWN, arena, &run, &ignored) != ERR_OK) return false;
    if (!wire_run_has_program(kind, &run)) return true;
    if ((run.sandbox & own->sandbox) != own->sandbox) return false;
    if (!(own->sandbox & WIRE_SANDBOX_FILES)) return true;
    return are_below(&run.sandbox_write, &own->sandbox_write, NULL) &&
           are_below(&run.sandbox_read, &own->sandbox_read, &own->sandbox_write);
}

enum err add_scope_check(struct server *s, struct job_ref adder, const struct cmd_jobs *added, struct arena *arena,
                         struct why *why) {
    struct job_view job;
    struct wire_run own = {0};
    struct why ignored;
    if (!view_job(server_state(s), adder, &job)) return ERR_OK; /* the engine says so */
    if (tlv_decode(&wire_run_desc, job.body, TLV_SKIP_UNKNOWN, arena, &own, &ignored) != ERR_OK || own.sandbox == 0)
        return ERR_OK;
    for (uint32_t i = 0; i < added->job_count; i++) {
        const struct job_spec *j = &added->jobs[i];
        bool is_good = is_as_tight(&own, added->profiles[j->profile].kind, j->body, arena);
        if (is_good && j->undo_profile != 0)
            is_good = is_as_tight(&own, added->profiles[j->undo_profile - 1].kind, j->undo_body, arena);
        if (!is_good)
            return why_set(why, ERR_FORBIDDEN,
                           "job %.*s: a job in a sandbox can add only jobs whose sandbox is at least as strict",
                           SLICE_FMT(j->name));
    }
    return ERR_OK;
}
