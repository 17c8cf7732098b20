/* spec_handler.c: a job of a type that workers have a program for. */
#include "spec_impl.h"

enum err spec_need_capability(struct spec *s, struct spec_job *job, struct slice word) {
    struct tlv_list *capabilities = &job->o.demand.capabilities;
    const struct wire_name *from = capabilities->at;
    for (uint32_t i = 0; i < capabilities->count; i++)
        if (slice_eq(from[i].name, word)) return ERR_OK;
    struct wire_name *list = spec_alloc(s, sizeof *list * (capabilities->count + 1));
    if (list == NULL) return spec_full(s);
    if (capabilities->count > 0) memcpy(list, from, sizeof *list * capabilities->count);
    list[capabilities->count] = (struct wire_name){word};
    *capabilities = (struct tlv_list){list, capabilities->count + 1};
    return ERR_OK;
}

enum err spec_handler_read(struct spec *s, struct spec_job *job) {
    struct slice type = job->r.handler, before = SLICE(WIRE_HANDLER_CAPABILITY);
    if (type.len == 0) return spec_refuse(s, job->at, ERR_INVALID, "`handler` is the name of a type of job");
    if (job->stdin_node != NULL)
        return spec_refuse(s, job->at, ERR_INVALID, "the standard input of a handler is its `payload`");
    uint8_t *word = spec_alloc(s, before.len + type.len);
    if (word == NULL) return spec_full(s);
    memcpy(word, before.ptr, before.len);
    memcpy(word + before.len, type.ptr, type.len);
    return spec_need_capability(s, job, slice_of(word, before.len + type.len));
}
