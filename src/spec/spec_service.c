/* spec_service.c: of a job that deploys a service: its name, its port, how one sees that it is well; and what such a
 * job cannot have, because it ends when the service begins. */
#include "rules.h"
#include "spec_impl.h"
#include "spec_value.h"

static enum err read_port(struct spec *s, struct spec_job *job) {
    struct spec_scalar v;
    int64_t n = 0;
    if (job->port == NULL) return ERR_OK;
    enum err e = spec_scalar(s, job->port, "a port, or auto", &v);
    if (e != ERR_OK) return e;
    job->r.port_auto = slice_eq(v.text, SLICE("auto"));
    if (job->r.port_auto) return ERR_OK;
    if (!spec_number(v.text, &n) || n < 1 || n > UINT16_MAX)
        return spec_refuse(s, job->port->at, ERR_INVALID,
                           "expected a port between 1 and 65535, or `auto`, found `%.*s`", SLICE_FMT(v.text));
    job->r.port = (uint32_t)n;
    return ERR_OK;
}

/* No templates in it: it is the same at every look. */
static enum err read_command(struct spec *s, const struct json_node *node, struct wire_probe *ret) {
    if (node->kind != JSON_ARRAY) return spec_text(s, node, "a command", &ret->shell);
    struct wire_arg *args = spec_alloc(s, sizeof *args * node->count);
    if (args == NULL) return spec_full(s);
    for (const struct json_node *n = node->first; n != NULL; n = n->next) {
        enum err e = spec_text(s, n, "an argument", &args[ret->argv.count].text);
        if (e != ERR_OK) return e;
        ret->argv.count++;
    }
    ret->argv.at = args;
    return node->count > 0 ? ERR_OK : spec_refuse(s, node->at, ERR_INVALID, "expected a program and its arguments");
}

static enum err read_health(struct spec *s, struct spec_job *job) {
    struct wire_probe *how = &job->r.health;
    bool http = how->path.len > 0, command = job->probe_command != NULL;
    if (http + job->probe_tcp + command > 1)
        return spec_refuse(s, job->at, ERR_INVALID, "its health is one of `http`, `tcp` and `command`");
    if (http && how->path.ptr[0] != '/')
        return spec_refuse(s, job->at, ERR_INVALID, "the path of its health begins with `/`, found `%.*s`",
                           SLICE_FMT(how->path));
    for (size_t i = 0; i < how->path.len; i++)
        if (how->path.ptr[i] <= ' ' || how->path.ptr[i] >= 0x7f)
            return spec_refuse(s, job->at, ERR_INVALID, "the path of its health has blanks or control characters");
    if (how->port > UINT16_MAX) return spec_refuse(s, job->at, ERR_INVALID, "a port is between 1 and 65535");
    bool has_port = how->port != 0 || job->r.port != 0 || job->r.port_auto;
    if ((http || job->probe_tcp) && !has_port)
        return spec_refuse(s, job->at, ERR_INVALID, "the health check needs a port: set `port`");
    how->kind = http ? WIRE_PROBE_HTTP : job->probe_tcp ? WIRE_PROBE_TCP : WIRE_PROBE_STANDARD;
    if (how->kind == WIRE_PROBE_STANDARD && how->port != 0) how->kind = WIRE_PROBE_TCP;
    if (!command) return ERR_OK;
    how->kind = WIRE_PROBE_COMMAND;
    return read_command(s, job->probe_command, how);
}

/* What two processes of the service on one machine cannot share. */
static enum err check_alone(struct spec *s, const struct spec_job *job) {
    bool many = job->o.replicas > 1, both = job->o.update == UPDATE_START_FIRST;
    uint32_t port = job->r.port ? job->r.port : job->r.health.port;
    uint32_t at = job->port != NULL ? job->port->at : job->at;
    if (!many && !both) return ERR_OK;
    if (port != 0 && many)
        return spec_refuse(s, at, ERR_INVALID, "replicas on one machine cannot share port %u: use `port: auto`", port);
    if (port != 0)
        return spec_refuse(s, at, ERR_INVALID,
                           "`update: start_first` runs two versions at once, and both cannot have port %u: use "
                           "`port: auto`, or `update: stop_first`",
                           port);
    if (both && job->o.exclusive)
        return spec_refuse(s, job->at, ERR_INVALID,
                           "`update: start_first` runs two versions at once, which `exclusive: true` forbids: leave "
                           "one out");
    return ERR_OK;
}

static enum err check_replicas(struct spec *s, struct spec_job *job) {
    if (job->o.replicas > REPLICAS_MAX)
        return spec_refuse(s, job->at, ERR_INVALID, "`replicas` is between 1 and %u", REPLICAS_MAX);
    if (job->o.replicas == 0 && job->o.max_parallel != 0)
        return spec_refuse(s, job->at, ERR_INVALID, "`max_parallel` of a service needs `replicas`");
    if (job->o.replicas != 0 && (job->given & GIVEN_APPROVAL))
        return spec_refuse(s, job->at, ERR_INVALID,
                           "each replica would ask for its own `approval`: let the service need a job with `gate`");
    if (job->o.replicas != 0) job->r.replica_of = job->service;
    return check_alone(s, job);
}

enum err spec_service_check(struct spec *s, struct spec_job *job) {
    const struct {
        const struct json_node *node;
        const char *text;
    } none[] = {{job->foreach, "a service cannot have `foreach`: every service needs its own name"},
                {job->compensate, "a service cannot have `compensate`: use `reeve stop`"},
                {job->cache, "a service cannot have `cache`: it has no result"},
                {job->artifacts, "a service cannot have `artifacts`: it does not end"}};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (none[i].node != NULL) return spec_refuse(s, none[i].node->at, ERR_INVALID, "%s", none[i].text);
    int programs = (job->run != NULL) + (job->script != NULL) + (job->archive != NULL);
    if (programs > 1)
        return spec_refuse(s, job->at, ERR_INVALID, "a service has exactly one of `run`, `script` and `archive`");
    if (programs == 0)
        return spec_refuse(s, job->at, ERR_INVALID, "a service needs its program: `run`, `script` or `archive`");
    if (job->service.len == 0) job->service = job->name;
    enum err e = read_port(s, job);
    if (e == ERR_OK) e = read_health(s, job);
    return e == ERR_OK ? check_replicas(s, job) : e;
}

enum err spec_service_reach(struct spec *s, const struct spec_job *job) {
    bool has_port = job->r.port != 0 || job->r.port_auto || job->r.health.port != 0;
    if (!(job->r.sandbox & WIRE_SANDBOX_NET_OFF) || !has_port) return ERR_OK;
    return spec_refuse(s, job->at, ERR_INVALID,
                       "its sandbox has no network, so its port could not be reached: set `net: on` in the sandbox");
}
