/* source.c: what the process of an attempt is made of, for a worker whose processes run on another machine. What cannot
 * go there is named, and whoever runs it refuses. */
#include <stdio.h>

#include "agent_impl.h"
#include "service_health.h"

static const char *text_of(struct agent *a, struct slice s) {
    char *text = arena_alloc(&a->arena, s.len + 1);
    if (s.len > 0) memcpy(text, s.ptr, s.len);
    return text;
}

static const char *beyond(const struct attempt *t, const struct wire_run *run) {
    const struct proc_limits *l = &t->limits;
    if (run->env.count > 0) return "an environment of its own";
    if (run->files.count + run->inputs.count > 0) return "files beside its program";
    if (run->artifacts.count > 0) return "artifacts";
    if (run->stdin_text.len + run->stdin_hash.len > 0) return "standard input";
    if (run->workdir.len > 0) return "a directory of its choice";
    if (run->sandbox != 0) return "a sandbox";
    if (t->is_exclusive) return "to run alone";
    if (run->port_auto) return "a port that is free there";
    if (run->strip != 0) return "folders taken off";
    if (l->memory_bytes != 0 || l->cpu_milli != 0 || l->pids != 0 || l->open_files != 0 || l->file_bytes != 0)
        return "limits";
    return NULL;
}

const struct proc_source *source_make(struct agent *a, const struct attempt *t, const struct wire_assignment *order,
                                      const struct job_setup *w) {
    const struct wire_run *run = &w->run;
    const struct wire_arg *args = run->argv.at;
    bool is_service = order->kind == JOB_SERVICE, is_archive = order->kind == JOB_ARCHIVE || run->is_archive;
    if (run->script.len == 0 && run->script_hash.len == 0) return NULL;
    struct proc_source *s = ARENA_NEW(&a->arena, struct proc_source);
    const char **list = ARENA_ARRAY(&a->arena, const char *, run->argv.count + 1);
    for (uint32_t i = 0; i < run->argv.count; i++) list[i] = text_of(a, args[i].text);
    *s = (struct proc_source){.space = t->space,
                              .file = text_of(a, run->script_name.len > 0 ? run->script_name : SLICE("script")),
                              .entry = text_of(a, run->entry),
                              .args = list,
                              .is_archive = is_archive,
                              .is_service = is_service,
                              .port = t->tended != 0 ? service_health_of(a, t)->port : 0,
                              .beyond = beyond(t, run)};
    return s;
}
