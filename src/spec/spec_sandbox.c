/* spec_sandbox.c: what a job may see and do of the machine. */
#include "spec_impl.h"

static enum err read_net(struct spec *s, const struct json_node *node, bool *ret_off) {
    struct spec_scalar v;
    if (node == NULL) return ERR_OK;
    enum err e = spec_scalar(s, node, "on or off", &v);
    if (e != ERR_OK) return e;
    bool on = v.kind == JSON_BOOL ? v.truth : slice_eq(v.text, SLICE("on"));
    if (!on && v.kind != JSON_BOOL && !slice_eq(v.text, SLICE("off")))
        return spec_refuse(s, node->at, ERR_INVALID, "expected on or off, found `%.*s`", SLICE_FMT(v.text));
    *ret_off = !on;
    return ERR_OK;
}

static enum err read_paths(struct spec *s, const struct json_node *node, const struct tlv_list *names,
                           struct tlv_list *ret) {
    const struct wire_name *from = names->at;
    struct wire_arg *list = spec_alloc(s, sizeof *list * names->count);
    if (list == NULL) return spec_full(s);
    for (uint32_t i = 0; i < names->count; i++) {
        if (from[i].name.len == 0 || from[i].name.ptr[0] != '/')
            return spec_refuse(s, node->at, ERR_INVALID, "a path of a sandbox is absolute, found `%.*s`",
                               SLICE_FMT(from[i].name));
        list[i].text = from[i].name;
    }
    *ret = (struct tlv_list){list, names->count};
    return ERR_OK;
}

static enum err read_object(struct spec *s, struct spec_job *job) {
    const struct json_node *node = job->sandbox;
    struct spec_sandbox x = {0};
    enum err e = spec_object_read(s, &spec_sandbox_keys, node, 0, &x);
    bool net_off = x.strict;
    if (e == ERR_OK) e = read_net(s, x.net, &net_off);
    if (e == ERR_OK) e = read_paths(s, node, &x.read, &job->r.sandbox_read);
    if (e == ERR_OK) e = read_paths(s, node, &x.write, &job->r.sandbox_write);
    if (e != ERR_OK) return e;
    if (!x.strict && x.net == NULL && x.read.count + x.write.count == 0)
        return spec_refuse(s, node->at, ERR_INVALID, "a sandbox needs one of strict, net, read-only, write");
    job->r.sandbox = WIRE_SANDBOX_ON | (net_off ? WIRE_SANDBOX_NET_OFF : 0u);
    if (x.strict || x.read.count + x.write.count > 0) job->r.sandbox |= WIRE_SANDBOX_FILES;
    return ERR_OK;
}

enum err spec_sandbox_read(struct spec *s, struct spec_job *job) {
    const struct json_node *node = job->sandbox;
    struct slice word = {0};
    if (node == NULL) return ERR_OK;
    if (!wire_run_has_program(job->o.kind, &job->r)) {
        if (node == s->defaults.sandbox || job->is_sandbox_inherited) return ERR_OK; /* meant for the others */
        return spec_refuse(s, node->at, ERR_INVALID, "only a job that runs a program has a sandbox");
    }
    enum err e = ERR_OK;
    if (node->kind == JSON_OBJECT)
        e = read_object(s, job);
    else
        e = spec_text(s, node, "strict, net-off, none or an object", &word);
    if (e == ERR_OK && node->kind != JSON_OBJECT && !wire_sandbox_of(word, &job->r.sandbox))
        e = spec_refuse(s, node->at, ERR_INVALID, "expected strict, net-off, none or an object, found `%.*s`",
                        SLICE_FMT(word));
    if (e != ERR_OK || job->r.sandbox == 0) return e;
    return spec_need_capability(s, job, SLICE(WIRE_SANDBOX_CAPABILITY)); /* no worker that cannot keep it gets it */
}
