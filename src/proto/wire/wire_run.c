/* wire_run.c: the tables behind wire_run.h. Bodies of jobs are in journals, so these tags live as long as those. */
#include "wire_run.h"

#include "wire_flow.h"

/* clang-format off */
static const struct tlv_field file_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_file, path, .max = WIRE_TEXT_MAX),
    TLV_FIELD(2, TLV_HASH, wire_file, hash),
    TLV_FIELD(3, TLV_BOOL, wire_file, executable),
};
const struct tlv_desc wire_file_desc = TLV_DESC("file", wire_file, file_fields);

static const struct tlv_field artifact_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_artifact, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_artifact, path, .max = WIRE_TEXT_MAX),
    TLV_FIELD(3, TLV_BOOL, wire_artifact, optional),
};
const struct tlv_desc wire_artifact_desc = TLV_DESC("artifact", wire_artifact, artifact_fields);

static const struct tlv_field take_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_take, path, .max = WIRE_TEXT_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_take, job, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_take, name, .max = WIRE_NAME_MAX),
};
const struct tlv_desc wire_take_desc = TLV_DESC("take", wire_take, take_fields);

static const char *const probe_words[WIRE_PROBE_KIND_COUNT] = {"standard", "tcp", "http", "command"};
static const struct tlv_field probe_fields[] = {
    TLV_FIELD(1, TLV_ENUM, wire_probe, kind, .max = WIRE_PROBE_KIND_COUNT, .names = probe_words),
    TLV_FIELD(2, TLV_U32, wire_probe, port),
    TLV_FIELD(3, TLV_TEXT, wire_probe, path, .max = WIRE_TEXT_MAX),
    TLV_FIELD(4, TLV_LIST, wire_probe, argv, .max = 4096, .sub = &wire_arg_desc),
    TLV_FIELD(5, TLV_TEXT, wire_probe, shell, .max = WIRE_VALUE_MAX),
    TLV_FIELD(6, TLV_U32, wire_probe, interval_ms),
    TLV_FIELD(7, TLV_U32, wire_probe, timeout_ms),
    TLV_FIELD(8, TLV_U32, wire_probe, threshold),
    TLV_FIELD(9, TLV_U32, wire_probe, grace_ms),
};
const struct tlv_desc wire_probe_desc = TLV_DESC("probe", wire_probe, probe_fields);

static const struct tlv_field ceilings_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_ceilings, memory_bytes),
    TLV_FIELD(2, TLV_U32, wire_ceilings, cpu_milli),
    TLV_FIELD(3, TLV_U32, wire_ceilings, pids),
    TLV_FIELD(4, TLV_U32, wire_ceilings, open_files),
    TLV_FIELD(5, TLV_U64, wire_ceilings, file_bytes),
};
const struct tlv_desc wire_ceilings_desc = TLV_DESC("ceilings", wire_ceilings, ceilings_fields);

static const struct tlv_field run_fields[] = {
    TLV_FIELD(1, TLV_LIST, wire_run, argv, .max = 4096, .sub = &wire_arg_desc),
    TLV_FIELD(2, TLV_TEXT, wire_run, shell, .max = WIRE_VALUE_MAX),
    TLV_FIELD(3, TLV_BYTES, wire_run, script, .max = WIRE_VALUE_MAX),
    TLV_FIELD(4, TLV_TEXT, wire_run, script_name, .max = WIRE_NAME_MAX),
    TLV_FIELD(WIRE_RUN_SCRIPT_HASH, TLV_HASH, wire_run, script_hash),
    TLV_FIELD(6, TLV_BYTES, wire_run, stdin_text, .max = WIRE_VALUE_MAX),
    TLV_FIELD(WIRE_RUN_STDIN_HASH, TLV_HASH, wire_run, stdin_hash),
    TLV_FIELD(8, TLV_LIST, wire_run, env, .max = 4096, .sub = &wire_pair_desc),
    TLV_FIELD(WIRE_RUN_FILES, TLV_LIST, wire_run, files, .max = 4096, .sub = &wire_file_desc),
    TLV_FIELD(10, TLV_LIST, wire_run, artifacts, .max = 256, .sub = &wire_artifact_desc),
    TLV_FIELD(11, TLV_TEXT, wire_run, workdir, .max = WIRE_TEXT_MAX),
    TLV_FIELD(12, TLV_I64, wire_run, sleep_ms),
    TLV_FIELD(13, TLV_U32, wire_run, exit_code),
    TLV_FIELD(14, TLV_U64, wire_run, log_bytes_max),
    TLV_FIELD(15, TLV_U32, wire_run, kill_grace_ms),
    TLV_FIELD(16, TLV_LIST, wire_run, labels, .max = 64, .sub = &wire_pair_desc),
    TLV_FIELD(17, TLV_TEXT, wire_run, when, .max = WIRE_TEXT_MAX),
    TLV_FIELD(18, TLV_TEXT, wire_run, foreach, .max = WIRE_TEXT_MAX),
    TLV_FIELD(19, TLV_TEXT, wire_run, message, .max = WIRE_TEXT_MAX),
    TLV_FIELD(20, TLV_LIST, wire_run, inputs, .max = 256, .sub = &wire_take_desc),
    TLV_FIELD(21, TLV_TEXT, wire_run, params, .max = WIRE_VALUE_MAX, .form = TLV_FORM_JSON),
    TLV_FIELD(22, TLV_U32, wire_run, port),
    TLV_FIELD(23, TLV_BOOL, wire_run, port_auto),
    TLV_FIELD(24, TLV_MSG, wire_run, health, .sub = &wire_probe_desc),
    TLV_FIELD(30, TLV_TEXT, wire_run, entry, .max = WIRE_TEXT_MAX),
    TLV_FIELD(31, TLV_TEXT, wire_run, dir, .max = WIRE_TEXT_MAX),
    TLV_FIELD(32, TLV_U32, wire_run, strip),
    TLV_FIELD(33, TLV_BOOL, wire_run, is_archive),
    TLV_FIELD(35, TLV_MSG, wire_run, limits, .sub = &wire_ceilings_desc),
    TLV_FIELD(45, TLV_U32, wire_run, sandbox),
    TLV_FIELD(46, TLV_LIST, wire_run, sandbox_read, .max = 64, .sub = &wire_arg_desc),
    TLV_FIELD(47, TLV_LIST, wire_run, sandbox_write, .max = 64, .sub = &wire_arg_desc),
    TLV_FIELD(55, TLV_LIST, wire_run, http, .max = 1, .sub = &wire_http_desc),
    TLV_FIELD(56, TLV_LIST, wire_run, submit, .max = 1, .sub = &wire_step_desc),
    TLV_FIELD(57, TLV_LIST, wire_run, poll, .max = 1, .sub = &wire_step_desc),
    TLV_FIELD(60, TLV_LIST, wire_run, interpreter, .max = 16, .sub = &wire_arg_desc),
    TLV_FIELD(61, TLV_BOOL, wire_run, shared),
    TLV_FIELD(65, TLV_TEXT, wire_run, handler, .max = WIRE_NAME_MAX),
    TLV_FIELD(66, TLV_TEXT, wire_run, titan, .max = WIRE_NAME_MAX),
    TLV_FIELD(67, TLV_TEXT, wire_run, late, .max = WIRE_VALUE_MAX, .form = TLV_FORM_JSON),
    TLV_FIELD(82, TLV_TEXT, wire_run, replica_of, .max = WIRE_NAME_MAX),
};
const struct tlv_desc wire_run_desc = TLV_DESC("run", wire_run, run_fields);
/* clang-format on */

static bool step_has_program(const struct tlv_list *steps) {
    const struct wire_step *step = steps->at;
    return steps->count > 0 && step->http.count == 0;
}

bool wire_run_has_program(uint8_t kind, const struct wire_run *run) {
    if (kind == JOB_EXTERNAL) return step_has_program(&run->submit) || step_has_program(&run->poll);
    return job_kind_of(kind)->runs == JOB_RUNS_PROGRAM; /* so of a kind that we do not know: it may do anything */
}

bool wire_sandbox_of(struct slice word, uint32_t *ret) {
    static const struct {
        const char *word;
        uint32_t bits;
    } words[] = {{"none", 0}, {"net-off", WIRE_SANDBOX_ON | WIRE_SANDBOX_NET_OFF}, {"strict", WIRE_SANDBOX_ALL}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!slice_eq(word, slice_str(words[i].word))) continue;
        *ret = words[i].bits;
        return true;
    }
    return false;
}
