/* worker_env.c: see worker_env.h. */
#include "worker_env.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096u /* as long as the system's get */

void worker_env_add(struct worker_env *e, const char *name, const char *value) {
    size_t left = sizeof e->text - e->used;
    int len = snprintf(e->text + e->used, left, "%s=%s", name, value);
    if (len < 0 || (size_t)len >= left || e->count == WORKER_ENV_MAX) return; /* absurdly large: what fits is passed */
    e->list[e->count++] = e->text + e->used;
    e->used += (size_t)len + 1;
}

void worker_env_add_path(struct worker_env *e, const char *name, const char *path) {
    char full[PATH_BYTES];
    if (path != NULL && realpath(path, full) != NULL) worker_env_add(e, name, full);
}

static void pass_on(struct worker_env *e, const char *name, const char *otherwise) {
    const char *value = getenv(name);
    if (value == NULL) value = otherwise;
    if (value != NULL) worker_env_add(e, name, value);
}

static void pass_all(struct worker_env *e) {
    for (char **line = environ; *line != NULL; line++) {
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*line, "="), *line);
        if (strncmp(name, "REEVE_", 6) != 0) pass_on(e, name, NULL); /* the worker's own token among them */
    }
}

void worker_env_make(struct worker_env *e, const char *pass) {
    pass_on(e, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    pass_on(e, "HOME", "/");
    pass_on(e, "TZ", NULL);
    worker_env_add(e, "LANG", "C.UTF-8");
    worker_env_add(e, "PYTHONIOENCODING", "utf-8");
    if (pass == NULL) return;
    if (strcmp(pass, "all") == 0) {
        pass_all(e);
        return;
    }
    char list[PATH_BYTES], *rest = NULL;
    snprintf(list, sizeof list, "%s", pass);
    for (char *name = strtok_r(list, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
        pass_on(e, name, NULL);
}

static void python_add(struct worker_env *e, const char *path) {
    static const char name[] = "PYTHONPATH=";
    char full[PATH_BYTES], all[4 * PATH_BYTES];
    const char *before = NULL;
    if (realpath(path, full) == NULL) return;
    for (uint32_t i = 0; i < e->count; i++)
        if (strncmp(e->list[i], name, sizeof name - 1) == 0) before = e->list[i] + sizeof name - 1;
    bool has_before = before != NULL && before[0] != 0;
    int len = snprintf(all, sizeof all, "%s%s%s", has_before ? before : "", has_before ? ":" : "", full);
    if (len > 0 && (size_t)len < sizeof all) worker_env_add(e, "PYTHONPATH", all);
}

void worker_env_add_python(struct worker_env *e, const char *given) {
    static const char *const places[] = {"../share/reeve/python", "../../sdk/python/src"}; /* installed; built */
    char own[PATH_BYTES], path[2 * PATH_BYTES];
    if (given != NULL) {
        python_add(e, given);
        return;
    }
    char *slash = realpath("/proc/self/exe", own) != NULL ? strrchr(own, '/') : NULL;
    if (slash == NULL) return;
    *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s/%s/reeve", own, places[i]);
        if (access(path, R_OK | X_OK) != 0) continue;
        path[strlen(path) - strlen("/reeve")] = 0;
        python_add(e, path);
        return;
    }
}
