/* spec_test.c: what flow files mean, and what is said about those that mean nothing. */
#include "test.h"

#include <stdio.h>

#include "flowlab.h"

static void good(struct flowlab *l, const char *text, const char *params) {
    if (flowlab_read(l, slice_str(text), params) != ERR_OK) fail_msg("%s", l->why.text);
}

static void assert_slice(struct slice s, const char *text) {
    if (!slice_eq(s, slice_str(text))) fail_msg("`%.*s` is not `%s`", SLICE_FMT(s), text);
}

static void a_small_flow(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l,
         "name: etl\n"
         "labels: {team: data, year: 2026}\n"
         "jobs:\n"
         "  load:\n"
         "    needs: [extract, clean]\n"
         "    run: [psql, -f, load.sql]\n"
         "  extract: curl -O $URL\n"
         "  clean: {needs: extract, script: x.py, retries: 0}\n",
         NULL);
    const struct wire_job *jobs = l.flow.part.jobs.at;
    assert_slice(l.flow.name, "etl");
    assert_int_equal(l.flow.labels.count, 2);
    assert_int_equal(l.flow.part.jobs.count, 3);
    assert_slice(jobs[0].name, "extract"); /* parents first */
    assert_slice(jobs[1].name, "clean");
    assert_slice(jobs[2].name, "load");
    assert_int_equal(jobs[2].parents.count, 2);
    assert_int_equal(jobs[2].parents.at[0], 0);
    assert_int_equal(jobs[2].parents.at[1], 1);
    assert_slice(flowlab_run(&l, "extract").shell, "curl -O $URL");
    assert_int_equal(flowlab_run(&l, "load").argv.count, 3);
    struct wire_run clean = flowlab_run(&l, "clean");
    assert_slice(clean.script, "print(1)\n");
    assert_slice(clean.script_name, "x.py");
    assert_int_equal(flowlab_options(&l, "clean")->kind, JOB_SCRIPT);
    assert_int_equal(flowlab_options(&l, "clean")->attempts_max, 1);
    assert_int_equal(flowlab_options(&l, "load")->attempts_max, 0);
    assert_int_equal(l.flow.part.options.count, 2); /* extract and load share theirs */
    flowlab_fini(&l);
}

static void json_means_the_same(void **state) {
    (void)state;
    struct flowlab a, b;
    struct buf x, y;
    flowlab_init(&a), flowlab_init(&b);
    buf_init(&x, 1 << 20), buf_init(&y, 1 << 20);
    good(&a, "name: n\njobs:\n  a: {run: \"true\", timeout: 5m, env: {A: 1, B: yes}}\n  b: {noop: true, needs: a}\n",
         NULL);
    good(&b,
         "{\"name\":\"n\",\"jobs\":{\"a\":{\"run\":\"true\",\"timeout\":\"5m\",\"env\":{\"A\":1,\"B\":\"yes\"}},"
         "\"b\":{\"noop\":true,\"needs\":\"a\"}}}",
         NULL);
    tlv_encode(&wire_flow_desc, &a.flow, &x);
    tlv_encode(&wire_flow_desc, &b.flow, &y);
    assert_true(slice_eq(buf_slice(&x), buf_slice(&y)));
    buf_fini(&x), buf_fini(&y);
    flowlab_fini(&a), flowlab_fini(&b);
}

static void every_key_of_a_job(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l,
         "params: {x: 1}\n"
         "jobs:\n"
         "  a:\n"
         "    run: make\n"
         "    retries: 5\n"
         "    backoff: {base: 2s, cap: 1m, jitter: 0}\n"
         "    fatal_exit_codes: [3, 4]\n"
         "    token: [read, submit]\n"
         "    timeout: 1h30m\n"
         "    deadline: 2026-03-01T08:00:00+02:00\n"
         "    start_at: 10m\n"
         "    start_within: 1d\n"
         "    delay: 250ms\n"
         "    priority: high\n"
         "    topic: builds\n"
         "    requires: [gpu, docker]\n"
         "    placement: {zone: a}\n"
         "    resources: {cpu: 1.5, memory: 2GiB, gpus: 1, custom: {licences: 2}}\n"
         "    limits: {memory: 3GiB, cpu: 2, pids: 100, open_files: 64, file_size: 10MB}\n"
         "    prefer: {worker: w1, pool: p1, for: 30s}\n"
         "    affinity: true\n"
         "    exclusive: true\n"
         "    concurrency: db\n"
         "    rate: [api]\n"
         "    env: {A: b}\n"
         "    stdin: {file: in.txt}\n"
         "    artifacts: [out/*.csv, {path: log.txt, name: log, optional: true}]\n"
         "    labels: {tier: gold}\n"
         "    on_upstream: skip\n"
         "    trigger: one_succeeded\n"
         "    retry_on: [lost, exit]\n"
         "    approval: {message: sure?, role: lead, quorum: 2, four_eyes: true, timeout: 2d}\n"
         "    when: params.x == 1\n"
         "    log_limit: 10MB\n"
         "    kill_grace: 3s\n"
         "    workdir: /srv\n"
         "    shared: true\n"
         "    cache: {key: v1, for: 7d}\n",
         NULL);
    const struct wire_options *o = flowlab_options(&l, "a");
    struct wire_run r = flowlab_run(&l, "a");
    assert_true(r.shared);
    assert_int_equal(o->attempts_max, 6);
    assert_int_equal(o->backoff_base_ms, 2000);
    assert_int_equal(o->backoff_cap_ms, 60000);
    assert_int_equal(o->backoff_jitter_ms, 1); /* on the wire 0 is the standard, 1 is none */
    assert_int_equal(o->fatal_exits.count, 2);
    assert_int_equal(o->token_rights, 3); /* read, submit */
    assert_int_equal(o->run_timeout_ms, 5400000);
    assert_int_equal(o->deadline_ms, INT64_C(1772344800000));
    assert_int_equal(o->not_before_ms, FLOWLAB_NOW_MS + 600000);
    assert_int_equal(o->start_within_ms, 86400000);
    assert_int_equal(o->delay_ms, 250);
    assert_int_equal(o->priority, 1);
    assert_slice(o->demand.topic, "builds");
    assert_int_equal(o->demand.capabilities.count, 2);
    assert_int_equal(o->demand.labels.count, 1);
    assert_int_equal(o->demand.cpu_milli, 1500);
    assert_int_equal(o->demand.memory_bytes, INT64_C(2) << 30);
    assert_int_equal(o->demand.gpus, 1);
    assert_int_equal(o->demand.resources.count, 1);
    assert_int_equal(o->demand.keys.count, 1);
    assert_int_equal(o->demand.rates.count, 1);
    assert_slice(o->preferred_worker, "w1");
    assert_int_equal(o->prefer_ms, 30000);
    assert_true(o->affinity && o->exclusive && o->four_eyes);
    assert_int_equal(o->on_upstream, UPSTREAM_SKIP);
    assert_int_equal(o->trigger, TRIGGER_ONE_SUCCEEDED);
    assert_int_equal(o->retry_on, RETRY_LOST | RETRY_EXIT);
    assert_int_equal(o->gates, 1 | 8); /* condition, approval */
    assert_int_equal(o->quorum, 2);
    assert_int_equal(o->approval_ms, 172800000);
    assert_int_equal(o->cache_ms, 604800000);
    assert_int_equal(flowlab_job(&l, "a")->cache_key.len, 32);
    assert_int_equal(r.limits.memory_bytes, INT64_C(3) << 30);
    assert_int_equal(r.limits.cpu_milli, 2000);
    assert_int_equal(r.limits.pids, 100);
    assert_int_equal(r.limits.open_files, 64);
    assert_int_equal(r.limits.file_bytes, 10000000);
    assert_slice(r.stdin_text, "one\ntwo\n");
    assert_int_equal(r.artifacts.count, 2);
    assert_slice(((const struct wire_artifact *)r.artifacts.at)[1].name, "log");
    assert_slice(r.when, "params.x == 1");
    assert_slice(r.message, "sure?");
    assert_int_equal(r.log_bytes_max, 10000000);
    assert_int_equal(r.kill_grace_ms, 3000);
    flowlab_fini(&l);
}

static void the_other_kinds(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l,
         "jobs:\n"
         "  g: {gate: deploy?}\n"
         "  h: {gate: {message: sure?, role: lead}}\n"
         "  e: {external: the parcel has arrived}\n"
         "  n: {noop: true}\n"
         "  s: {sleep: 1.5s}\n"
         "  f: {fail: 3}\n"
         "  t: {script: {text: 'echo hi', name: a.sh, args: [1, two]}}\n"
         "  b: {script: big.sh}\n"
         "  z: {archive: big.sh}\n"
         "  y: {archive: {file: x.py, entry: bin/go.py, dir: data, strip: 1, args: [1, two]}}\n",
         NULL);
    assert_int_equal(flowlab_options(&l, "g")->kind, JOB_GATE);
    assert_slice(flowlab_run(&l, "g").message, "deploy?");
    assert_slice(flowlab_options(&l, "h")->approval_role, "lead");
    assert_int_equal(flowlab_options(&l, "e")->kind, JOB_EXTERNAL);
    assert_int_equal(flowlab_options(&l, "n")->kind, JOB_NOOP);
    assert_int_equal(flowlab_run(&l, "s").sleep_ms, 1500);
    assert_int_equal(flowlab_run(&l, "f").exit_code, 3);
    struct wire_run t = flowlab_run(&l, "t");
    assert_slice(t.script_name, "a.sh");
    assert_int_equal(t.argv.count, 2);
    assert_int_equal(flowlab_run(&l, "b").script_hash.len, 32);
    assert_int_equal(flowlab_options(&l, "z")->kind, JOB_ARCHIVE);
    assert_int_equal(flowlab_run(&l, "z").script_hash.len, 32);
    assert_slice(flowlab_run(&l, "z").script_name, "big.sh");
    struct wire_run y = flowlab_run(&l, "y");
    assert_slice(y.entry, "bin/go.py");
    assert_slice(y.dir, "data");
    assert_int_equal(y.strip, 1);
    assert_int_equal(y.argv.count, 2);
    flowlab_fini(&l);
}

static void a_handler_is_a_type_and_a_payload(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l,
         "jobs:\n"
         "  a: {handler: RESIZE, payload: 'cat.png|80', requires: fast}\n"
         "  b: {needs: a, handler: RESIZE, payload: 'x ${jobs.a.outputs.name}'}\n",
         NULL);
    assert_int_equal(flowlab_options(&l, "a")->kind, JOB_COMMAND);
    assert_slice(flowlab_run(&l, "a").handler, "RESIZE");
    assert_slice(flowlab_run(&l, "a").stdin_text, "cat.png|80");
    const struct tlv_list *needs = &flowlab_options(&l, "a")->demand.capabilities;
    assert_int_equal(needs->count, 2);
    assert_slice(((const struct wire_name *)needs->at)[1].name, "handler:RESIZE");
    assert_slice(flowlab_run(&l, "b").stdin_text, "x ${jobs.a.outputs.name}");
    flowlab_fini(&l);
}

static void requests_and_the_outside(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l,
         "params: {who: 'a b'}\n"
         "jobs:\n"
         "  a:\n"
         "    http:\n"
         "      url: http://x/${params.who}\n"
         "      headers: {X-A: '${KEY}'}\n"
         "      json: {n: 1, who: '${params.who}', all: ['$', null]}\n"
         "      expect: [200, 400-410]\n"
         "      save: out/x.bin\n"
         "      timeout: 5s\n"
         "      tls: {ca: /etc/ca.pem}\n"
         "  e:\n"
         "    external:\n"
         "      message: the farm\n"
         "      submit: begin\n"
         "      poll: {run: [ask, it], every: 10s, up_to: 1m, until: output == 1}\n"
         "      timeout: 2h\n",
         NULL);
    struct wire_run a = flowlab_run(&l, "a"), e = flowlab_run(&l, "e");
    assert_int_equal(flowlab_options(&l, "a")->kind, JOB_HTTP);
    assert_int_equal(flowlab_options(&l, "a")->fatal_exits.count, 2);
    assert_int_equal(a.http.count, 1);
    const struct wire_http *h = a.http.at;
    assert_slice(h->url, "http://x/a%20b");
    assert_slice(h->body, "{\"n\":1,\"who\":\"a b\",\"all\":[\"$\",null]}");
    assert_int_equal(((const struct wire_span *)h->expect.at)[1].to, 410);
    assert_int_equal(h->timeout_ms, 5000);
    assert_slice(h->ca, "/etc/ca.pem");
    assert_slice(((const struct wire_artifact *)a.artifacts.at)[0].path, "out/x.bin");
    const struct wire_options *o = flowlab_options(&l, "e");
    assert_true(o->calls);
    assert_int_equal(o->poll_ms, 10000);
    assert_int_equal(o->poll_cap_ms, 60000);
    assert_int_equal(o->approval_ms, 7200000);
    assert_slice(((const struct wire_step *)e.submit.at)->shell, "begin");
    assert_slice(((const struct wire_step *)e.poll.at)->until, "output == 1");
    flowlab_fini(&l);
}

static void a_service_and_its_keys(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l,
         "jobs:\n"
         "  web: {service: ./serve --port $PORT}\n"
         "  api:\n"
         "    service:\n"
         "      run: [./api, -v]\n"
         "      name: the-api\n"
         "      port: 8080\n"
         "      health: {http: /up, port: 8081, interval: 1s, timeout: 500ms, threshold: 5, grace: 1m}\n"
         "      restart: {base: 1s, cap: 10s, reset: 2m}\n"
         "      healthy_within: 1m\n"
         "      stop_within: 30s\n"
         "    env: {A: b}\n"
         "  db: {service: {script: {name: a.sh, text: x}, port: auto, health: {command: [pg, ready]}}}\n"
         "  mq: {service: {run: x, port: auto, restart: 1s, health: {command: 'test -e up'}}}\n",
         NULL);
    assert_int_equal(flowlab_options(&l, "web")->kind, JOB_SERVICE);
    assert_slice(flowlab_job(&l, "web")->service, "web");
    assert_slice(flowlab_run(&l, "web").shell, "./serve --port $PORT");
    assert_int_equal(flowlab_run(&l, "web").health.kind, WIRE_PROBE_STANDARD);
    struct wire_run api = flowlab_run(&l, "api");
    assert_slice(flowlab_job(&l, "api")->service, "the-api");
    assert_int_equal(api.argv.count, 2);
    assert_int_equal(api.env.count, 1);
    assert_int_equal(api.port, 8080);
    assert_int_equal(api.health.kind, WIRE_PROBE_HTTP);
    assert_slice(api.health.path, "/up");
    assert_int_equal(api.health.port, 8081);
    assert_int_equal(api.health.interval_ms, 1000);
    assert_int_equal(api.health.timeout_ms, 500);
    assert_int_equal(api.health.threshold, 5);
    assert_int_equal(api.health.grace_ms, 60000);
    const struct wire_options *o = flowlab_options(&l, "api");
    assert_int_equal(o->restart_base_ms, 1000);
    assert_int_equal(o->restart_cap_ms, 10000);
    assert_int_equal(o->restart_reset_ms, 120000);
    assert_int_equal(o->healthy_within_ms, 60000);
    assert_int_equal(o->stop_within_ms, 30000);
    struct wire_run db = flowlab_run(&l, "db");
    assert_slice(db.script_name, "a.sh");
    assert_true(db.port_auto && db.port == 0);
    assert_int_equal(db.health.kind, WIRE_PROBE_COMMAND);
    assert_int_equal(db.health.argv.count, 2);
    assert_slice(flowlab_run(&l, "mq").health.shell, "test -e up");
    assert_int_equal(flowlab_options(&l, "mq")->restart_base_ms, 1000);
    flowlab_fini(&l);
}

static void a_trigger_takes_the_place_of_run_in_the_defaults(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l,
         "defaults: {on_upstream: run}\n"
         "jobs:\n"
         "  a: x\n"
         "  b: {run: x, needs: a, trigger: one_succeeded}\n"
         "  c: {run: x, needs: a, trigger: all_succeeded, on_upstream: skip}\n"
         "  d: {run: x, needs: a, trigger: all_succeeded}\n"
         "  e: {run: x, needs: a, trigger: all_done}\n",
         NULL);
    assert_int_equal(flowlab_options(&l, "a")->on_upstream, UPSTREAM_RUN);
    assert_int_equal(flowlab_options(&l, "b")->on_upstream, UPSTREAM_FAIL);
    assert_int_equal(flowlab_options(&l, "b")->trigger, TRIGGER_ONE_SUCCEEDED);
    assert_int_equal(flowlab_options(&l, "c")->on_upstream, UPSTREAM_SKIP);
    assert_int_equal(flowlab_options(&l, "d")->on_upstream, UPSTREAM_FAIL);
    assert_int_equal(flowlab_options(&l, "e")->trigger, TRIGGER_ALL_DONE);
    flowlab_fini(&l);
    flowlab_init(&l);
    good(&l, "defaults: {trigger: none_failed}\njobs:\n  a: x\n  b: {run: x, needs: a, on_upstream: run}\n", NULL);
    assert_int_equal(flowlab_options(&l, "a")->trigger, TRIGGER_NONE_FAILED);
    assert_int_equal(flowlab_options(&l, "b")->trigger, TRIGGER_ALL_SUCCEEDED);
    assert_int_equal(flowlab_options(&l, "b")->on_upstream, UPSTREAM_RUN);
    flowlab_fini(&l);
}

static void defaults_hold_unless_a_job_says_otherwise(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l,
         "defaults: {retries: 1, timeout: 1m, env: {A: '1', B: '2'}, topic: t, resources: {cpu: 1, gpus: 2},\n"
         "           limits: {pids: 7, cpu: 4}}\n"
         "jobs:\n"
         "  a: {run: x}\n"
         "  b: {run: x, retries: 0, env: {B: '3', C: '4'}, pool: p, resources: {cpu: 2}, limits: {cpu: 3}}\n",
         NULL);
    assert_int_equal(flowlab_options(&l, "a")->attempts_max, 2);
    assert_slice(flowlab_options(&l, "a")->demand.topic, "t");
    const struct wire_options *b = flowlab_options(&l, "b");
    assert_int_equal(b->attempts_max, 1);
    assert_int_equal(b->run_timeout_ms, 60000);
    assert_int_equal(b->demand.cpu_milli, 2000);
    assert_int_equal(b->demand.gpus, 2);
    assert_int_equal(b->demand.topic.len, 0);
    assert_slice(b->demand.pool, "p");
    struct wire_run r = flowlab_run(&l, "b");
    assert_int_equal(r.limits.pids, 7);
    assert_int_equal(r.limits.cpu_milli, 3000);
    const struct wire_pair *env = r.env.at;
    assert_int_equal(r.env.count, 3);
    assert_slice(env[0].value, "1");
    assert_slice(env[1].value, "3");
    assert_slice(env[2].key, "C");
    flowlab_fini(&l);
}

static void every_form_of_a_sandbox_is_read(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l,
         "params: {box: strict}\n"
         "defaults: {sandbox: net-off, requires: [gpu]}\n"
         "jobs:\n"
         "  a: x\n"
         "  b: {run: x, sandbox: '${params.box}'}\n"
         "  c: {run: x, sandbox: none}\n"
         "  d: {run: x, requires: [sandbox],\n"
         "      sandbox: {strict: true, net: on, read-only: [/data, /models], write: /out}}\n"
         "  e: {run: x, sandbox: {read-only: /data}}\n"
         "  f: {run: x, sandbox: {net: off}}\n"
         "  g: {gate: sure?}\n"
         "  h: {run: x, sandbox: strict, compensate: undo}\n"
         "  i: {run: x, sandbox: strict, compensate: {noop: true}}\n"
         "  j: {run: x, sandbox: strict, compensate: {handler: mail}}\n"
         "  k: {external: {submit: x}}\n"
         "  l: {external: {submit: {http: 'https://example.org'}, poll: {run: x, every: 1s}}, sandbox: strict}\n"
         "  m: {external: {submit: {http: 'https://example.org'}}, compensate: x}\n",
         NULL);
    assert_int_equal(flowlab_run(&l, "k").sandbox, WIRE_SANDBOX_ON | WIRE_SANDBOX_NET_OFF);
    assert_int_equal(flowlab_options(&l, "k")->demand.capabilities.count, 2);
    assert_int_equal(flowlab_run(&l, "l").sandbox, WIRE_SANDBOX_ALL);
    assert_int_equal(flowlab_run(&l, "m").sandbox, 0);
    assert_int_equal(flowlab_run(&l, "a").sandbox, WIRE_SANDBOX_ON | WIRE_SANDBOX_NET_OFF);
    assert_int_equal(flowlab_options(&l, "a")->demand.capabilities.count, 2); /* gpu, sandbox */
    assert_int_equal(flowlab_run(&l, "b").sandbox, WIRE_SANDBOX_ALL);
    assert_int_equal(flowlab_run(&l, "c").sandbox, 0);
    assert_int_equal(flowlab_options(&l, "c")->demand.capabilities.count, 1);
    struct wire_run d = flowlab_run(&l, "d");
    assert_int_equal(d.sandbox, WIRE_SANDBOX_ON | WIRE_SANDBOX_FILES);
    assert_slice(((const struct wire_arg *)d.sandbox_read.at)[1].text, "/models");
    assert_slice(((const struct wire_arg *)d.sandbox_write.at)[0].text, "/out");
    assert_int_equal(flowlab_options(&l, "d")->demand.capabilities.count, 1); /* named already */
    assert_int_equal(flowlab_run(&l, "e").sandbox, WIRE_SANDBOX_ON | WIRE_SANDBOX_FILES);
    assert_int_equal(flowlab_run(&l, "f").sandbox, WIRE_SANDBOX_ON | WIRE_SANDBOX_NET_OFF);
    assert_int_equal(flowlab_run(&l, "g").sandbox, 0);
    struct wire_run undo;
    assert_int_equal(tlv_decode(&wire_run_desc, flowlab_job(&l, "h")->undo_body, TLV_STRICT, &l.arena, &undo, NULL),
                     ERR_OK);
    assert_int_equal(undo.sandbox, WIRE_SANDBOX_ALL); /* as the job that it undoes */
    assert_int_equal(tlv_decode(&wire_run_desc, flowlab_job(&l, "j")->undo_body, TLV_STRICT, &l.arena, &undo, NULL),
                     ERR_OK);
    assert_int_equal(undo.sandbox, WIRE_SANDBOX_ALL);
    assert_int_equal(tlv_decode(&wire_run_desc, flowlab_job(&l, "m")->undo_body, TLV_STRICT, &l.arena, &undo, NULL),
                     ERR_OK);
    assert_int_equal(undo.sandbox, WIRE_SANDBOX_ON | WIRE_SANDBOX_NET_OFF);
    flowlab_fini(&l);
}

static void parameters_are_filled_in(void **state) {
    (void)state;
    struct flowlab l;
    static const char text[] = "params:\n"
                               "  day: 2026-01-01\n"
                               "  n: 3\n"
                               "  alone: true\n"
                               "  who:\n"
                               "  size: {default: small, choices: [small, large], description: how big}\n"
                               "jobs:\n"
                               "  a:\n"
                               "    run: load --day ${params.day} --who=${params.who} ${HOME} $${params.day}\n"
                               "    retries: ${params.n}\n"
                               "    exclusive: ${params.alone}\n"
                               "    env: {SIZE: '${params.size}', ALL: '${params.day}/${params.n}'}\n";
    flowlab_init(&l);
    good(&l, text, "who=me");
    assert_slice(flowlab_run(&l, "a").shell, "load --day 2026-01-01 --who=me ${HOME} ${params.day}");
    assert_int_equal(flowlab_options(&l, "a")->attempts_max, 4);
    assert_true(flowlab_options(&l, "a")->exclusive); /* nothing but a parameter: it stays a truth */
    good(&l, text, "who=7 day=x n=0 size=large");
    struct wire_run r = flowlab_run(&l, "a");
    assert_slice(r.shell, "load --day x --who=7 ${HOME} ${params.day}");
    assert_slice(((const struct wire_pair *)r.env.at)[1].value, "x/0");
    assert_int_equal(flowlab_options(&l, "a")->attempts_max, 1);
    assert_int_equal(flowlab_read(&l, slice_str(text), NULL), ERR_INVALID);
    assert_non_null(strstr(l.why.text, "flow.yaml:5:3: parameter `who` is required"));
    assert_int_equal(flowlab_read(&l, slice_str(text), "who=1 size=huge"), ERR_INVALID);
    assert_non_null(strstr(l.why.text, "; expected one of"));
    assert_int_equal(flowlab_read(&l, slice_str(text), "who=1 dya=x"), ERR_UNKNOWN_NAME);
    assert_non_null(strstr(l.why.text, "did you mean `day`"));
    assert_int_equal(flowlab_read(&l, slice_str(text), "who=1 n=many"), ERR_INVALID);
    flowlab_fini(&l);
}

static void phases_are_kept_apart_by_one_job(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l,
         "phases: [get, make, put]\n"
         "jobs:\n"
         "  p: {run: x, phase: put}\n"
         "  a: {run: x, phase: get}\n"
         "  b: {run: x, phase: get}\n"
         "  m: {run: x, phase: make, needs: free}\n"
         "  free: x\n",
         NULL);
    assert_int_equal(l.flow.part.jobs.count, 7);
    const struct wire_job *jobs = l.flow.part.jobs.at, *first = flowlab_job(&l, "before-make");
    assert_int_equal(flowlab_options(&l, "before-make")->kind, JOB_BARRIER);
    assert_int_equal(first->parents.count, 2);
    assert_slice(jobs[first->parents.at[0]].name, "a");
    assert_slice(jobs[first->parents.at[1]].name, "b");
    assert_int_equal(flowlab_job(&l, "m")->parents.count, 2);
    assert_ptr_equal(&jobs[flowlab_job(&l, "p")->parents.at[0]], flowlab_job(&l, "before-put"));
    good(&l, "jobs:\n  a: {run: x, phase: 1}\n  b: {run: x, phase: 5}\n", NULL);
    assert_non_null(flowlab_job(&l, "before-phase-5"));
    flowlab_fini(&l);
}

static void a_compensation_is_a_job_of_its_own(void **state) {
    (void)state;
    struct flowlab l;
    struct wire_run undo;
    flowlab_init(&l);
    good(&l,
         "jobs:\n"
         "  book: {run: book it, env: {A: b}, pool: p, compensate: {run: cancel it, retries: 9}}\n"
         "  pay: {run: pay, compensate: refund}\n",
         NULL);
    const struct wire_job *book = flowlab_job(&l, "book");
    const struct wire_options *sets = l.flow.part.options.at;
    assert_true(book->undo_options != 0);
    assert_int_equal(sets[book->undo_options - 1].attempts_max, 10);
    assert_slice(sets[book->undo_options - 1].demand.pool, "p");
    assert_int_equal(tlv_decode(&wire_run_desc, book->undo_body, TLV_STRICT, &l.arena, &undo, NULL), ERR_OK);
    assert_slice(undo.shell, "cancel it");
    assert_int_equal(undo.env.count, 1);
    flowlab_fini(&l);
}

static void stages_and_times_of_a_flow(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l,
         "timeout: 2h\n"
         "deadline: 30m\n"
         "defaults: {cache: true, retries: 2}\n"
         "jobs: {a: x, b: {run: y, needs: a}}\n"
         "on_failure: {tell: 'echo ${flow.state} ${jobs.a.state}'}\n"
         "finally: {clean: z, sweep: {run: z, needs: clean}}\n",
         NULL);
    const struct wire_options *sets = l.flow.part.options.at;
    assert_int_equal(l.flow.timeout_ms, 7200000);
    assert_int_equal(l.flow.late_after_ms, 1800000);
    assert_int_equal(l.flow.deadline_ms, 0);
    assert_int_equal(sets[flowlab_job(&l, "b")->options].stage, FLOW_STAGE_MAIN);
    assert_int_equal(sets[flowlab_job(&l, "tell")->options].stage, FLOW_STAGE_FAILURE);
    assert_int_equal(sets[flowlab_job(&l, "sweep")->options].stage, FLOW_STAGE_FINALLY);
    assert_int_equal(sets[flowlab_job(&l, "sweep")->options].attempts_max, 3);
    assert_int_equal(flowlab_job(&l, "clean")->cache_key.len, 0); /* defaults that make no sense there are left out */
    good(&l, "deadline: 2030-01-01T00:00:00Z\njobs: {a: x}\n", NULL);
    assert_int_equal(l.flow.deadline_ms, 1893456000000);
    flowlab_fini(&l);
}

static void items_and_templates(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l,
         "jobs:\n"
         "  list: x\n"
         "  map: {run: 'work ${item}', needs: list,\n"
         "        foreach: {in: jobs.list.outputs.files, max_parallel: 8, allow: 10%, fail_fast: true}}\n"
         "  three: {run: 'work ${item}', foreach: [a, 2, \"q\\\"\"]}\n"
         "  sum: {run: 'sum ${jobs.list.outputs.rows}', needs: list}\n",
         NULL);
    const struct wire_options *map = flowlab_options(&l, "map");
    assert_slice(flowlab_run(&l, "map").foreach, "jobs.list.outputs.files");
    assert_int_equal(map->gates, 128);
    assert_int_equal(map->max_parallel, 8);
    assert_int_equal(map->allow_percent, 10);
    assert_true(map->fail_fast);
    assert_slice(flowlab_run(&l, "three").foreach, "{\"a\", 2, \"q\\034\"}");
    assert_int_equal(flowlab_options(&l, "sum")->gates, 2);
    good(&l,
         "params: {p: x}\njobs:\n  a: {noop: true, foreach: [[], {a: {b: [1, null, '${params.p}']}, c: true}, 2]}\n",
         NULL);
    assert_slice(flowlab_run(&l, "a").foreach, "{{}, {[\"a\"] = {[\"b\"] = {1, null, \"x\"}}, [\"c\"] = true}, 2}");
    flowlab_fini(&l);
}

/* Lists by name: an item for each combination. */
static void lists_by_name_are_multiplied(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l,
         "params: {n: 2}\n"
         "jobs:\n"
         "  list: x\n"
         "  short: {run: 'x ${item.os}', foreach: {os: [linux, mac], n: params.n}}\n"
         "  long: {run: x, needs: list, foreach: {in: {os: [a], v: jobs.list.outputs}, exclude: [{os: a, v: 1}],\n"
         "         include: [{os: b}], max_parallel: 2}}\n",
         NULL);
    assert_slice(flowlab_run(&l, "short").foreach, "product(\"os\", {\"linux\", \"mac\"}, \"n\", (params.n\n))");
    assert_slice(flowlab_run(&l, "long").foreach,
                 "concat(exclude(product(\"os\", {\"a\"}, \"v\", (jobs.list.outputs\n)), "
                 "{{[\"os\"] = \"a\", [\"v\"] = 1}}), {{[\"os\"] = \"b\"}})");
    assert_int_equal(flowlab_options(&l, "long")->max_parallel, 2);
    static const struct {
        const char *foreach, *words;
    } bad[] = {
        {"{os: [a], max_parallel: 2}", "a foreach has no key `os`"},
        {"{max_parallel: 2}", "flow.yaml:2:29: a foreach needs its items: `in`"},
        {"{in: [a], exclude: [{a: 1}]}", "`exclude` and `include` need lists by name in `in`"},
        {"{in: {a: [1]}, include: [x]}", "`include` is a list of objects like {os: mac}, found a text in it"},
        {"{in: {}}", "expected 1 to 8 lists by name, found 0"},
        {"{a: [1], b: [1], c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1}", "expected 1 to 8 lists by name, found 9"},
        {"{a: jobs.list.outputs}", "it uses outputs of `list`: add that job to `needs`"},
        {"{a: {b: [1]}}", "expected an expression, found an object"},
        {"{a: params.m}", "there is no parameter `m`"},
        {"{a: return 5}", "each list is an expression, not statements"},
        {"{a: '1 +'}", "foreach"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "params: {n: 1}\njobs: {a: {run: x, foreach: %s}, list: x}\n", bad[i].foreach);
        enum err e = flowlab_read(&l, slice_str(text), NULL);
        if (e == ERR_OK || strstr(l.why.text, bad[i].words) == NULL) fail_msg("%s: %s", bad[i].foreach, l.why.text);
    }
    flowlab_fini(&l);
}

/* What is filled in here, what is left for the server, and what is nobody's but the shell's. */
static void templates_are_filled_in_by_stages(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l,
         "params: {day: d1, n: 3, evil: '${item} ${jobs.a.state}'}\n"
         "defaults: {env: {ALL: '$${item} ${params.day}'}}\n"
         "jobs:\n"
         "  a: {run: 'x ${params.day} ${HOME} $${item} $${jobs.x}', stdin: {file: in.txt}}\n"
         "  b: {run: [x, '${= params.n * 2 }', '${params.evil}']}\n"
         "  c: {needs: a, run: 'x ${params.day} ${jobs.a.outputs} $${item}', env: {E: '${params.evil}'}}\n"
         "  d: {foreach: params.n, run: 'x ${item} $${item}', when: flow.id ~= ''}\n"
         "  e: {foreach: [1], run: [x, '${= params.day .. item}'], artifacts: ['${index}.txt']}\n",
         NULL);
    struct wire_run run = flowlab_run(&l, "a");
    assert_slice(run.shell, "x d1 ${HOME} ${item} ${jobs.x}");
    assert_slice(((struct wire_pair *)run.env.at)[0].value, "${item} d1");
    assert_int_equal(flowlab_options(&l, "a")->gates, 0);
    assert_int_equal(run.params.len, 0);
    run = flowlab_run(&l, "b");
    assert_slice(((struct wire_arg *)run.argv.at)[1].text, "6");
    assert_slice(((struct wire_arg *)run.argv.at)[2].text, "${item} ${jobs.a.state}"); /* a value, and it stays one */
    run = flowlab_run(&l, "c");
    assert_slice(run.shell, "x d1 ${jobs.a.outputs} $${item}");
    assert_slice(((struct wire_pair *)run.env.at)[1].value, "$${item} $${jobs.a.state}");
    assert_int_equal(flowlab_options(&l, "c")->gates, 2);
    run = flowlab_run(&l, "d");
    assert_slice(run.shell, "x ${item} $${item}");
    assert_slice(((struct wire_pair *)run.env.at)[0].value, "$${item} d1"); /* not what was made of it for `a` */
    assert_slice(run.params, "{\"day\":\"d1\",\"n\":3,\"evil\":\"${item} ${jobs.a.state}\"}");
    assert_int_equal(flowlab_options(&l, "d")->gates, 1 | 128);
    assert_true(flowlab_run(&l, "e").params.len > 0);
    flowlab_fini(&l);
}

/* A default that names the slot is filled in when that is there: until then whatever uses the parameter waits, too. */
static void a_slot_decides_parameters(void **state) {
    (void)state;
    struct flowlab l;
    static const char text[] = "params: {day: '${= date(schedule.slot, \"-1d\")}', n: 3}\n"
                               "jobs:\n"
                               "  a: {run: 'x ${params.day} ${params.n} ${schedule.date}'}\n"
                               "  b: {run: 'x ${params.n}', when: params.day ~= nil}\n"
                               "  c: {run: 'x ${= params.day .. params.n}'}\n"
                               "  d: {run: [x, '${params.n}']}\n";
    flowlab_init(&l);
    l.has_slot = true;
    good(&l, text, NULL);
    struct wire_run run = flowlab_run(&l, "a");
    assert_slice(run.shell, "x ${params.day} 3 ${schedule.date}");
    assert_slice(run.params, "{\"n\":3}");
    assert_slice(run.late, "{\"day\":\"${= date(schedule.slot, \\\"-1d\\\")}\"}");
    assert_int_equal(flowlab_options(&l, "a")->gates, 2);
    assert_int_equal(flowlab_options(&l, "b")->gates, 1);
    assert_true(flowlab_run(&l, "b").late.len > 0);
    assert_slice(flowlab_run(&l, "c").shell, "x ${= params.day .. params.n}");
    assert_int_equal(flowlab_options(&l, "d")->gates, 0); /* it uses nothing of the slot */
    assert_int_equal(flowlab_run(&l, "d").late.len, 0);
    l.has_slot = false;
    assert_int_equal(flowlab_read(&l, slice_str(text), NULL), ERR_INVALID);
    assert_non_null(strstr(l.why.text, "flow.yaml:1:10: parameter `day` gets its value from the slot of a schedule: "
                                       "pass -p day=VALUE"));
    assert_int_equal(flowlab_read(&l, slice_str(text), "day=2026-01-01"), ERR_INVALID);
    assert_non_null(strstr(l.why.text, "flow.yaml:3:12: `schedule` is known only in flows that a schedule makes"));
    good(&l, "params: {day: '${schedule.date}'}\njobs: {a: 'x ${params.day}'}\n", "day=2026-01-01");
    assert_slice(flowlab_run(&l, "a").shell, "x 2026-01-01");
    assert_int_equal(flowlab_options(&l, "a")->gates, 0);
    flowlab_fini(&l);
}

static void what_a_slot_cannot_decide_is_refused(void **state) {
    (void)state;
    struct flowlab l;
    static const struct {
        const char *text, *said;
    } bad[] = {
        {"params: {n: '${schedule.slot}'}\njobs: {a: {run: x, retries: '${params.n}'}}\n",
         "known when a slot has come"},
        {"params: {n: '${schedule.slot} ${flow.id}'}\njobs: {a: x}\n", "a default can use `schedule` and nothing else"},
        {"params: {n: {default: '${schedule.date}', choices: [a]}}\njobs: {a: x}\n", "has no `choices`"},
        {"params: {n: '${schedule.day}'}\njobs: {a: x}\n", "schedule has no `day`"},
        {"params: {n: '${= date(schedule.slot, \"-1x\")}'}\njobs: {a: x}\n", "expected a move like -1d"},
        {"jobs: {a: 'x ${= date(schedule.slot, \"YYYY-MM-dd\")}'}\n", "`d` in the format `YYYY-MM-dd`"},
        {"jobs: {a: 'x ${= date(schedule.slot, \"DD hh\")}'}\n", "a shell could read as commands"},
        {"params: {n: '${schedule.date}'}\njobs: {a: {script: {text: 'echo ${params.n}', name: a.sh}}}\n",
         "in a script: pass it in"},
    };
    flowlab_init(&l);
    l.has_slot = true;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_not_equal(flowlab_read(&l, slice_str(bad[i].text), NULL), ERR_OK);
        if (strstr(l.why.text, bad[i].said) == NULL)
            fail_msg("%s\nexpected `%s`, got `%s`", bad[i].text, bad[i].said, l.why.text);
    }
    flowlab_fini(&l);
}

static void anchors_stand_for_what_they_name(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l, "jobs:\n  a: &x {run: make, env: &e {A: b}}\n  b: *x\n  c: {run: y, env: *e}\n", NULL);
    assert_slice(flowlab_run(&l, "b").shell, "make");
    assert_int_equal(flowlab_run(&l, "c").env.count, 1);
    flowlab_fini(&l);
}

/* clang-format off */
static const struct {
    const char *text, *said;
} bad[] = {
    {"jobs: {a: {run: x, sandbox: tight}}", "expected strict, net-off, none or an object, found `tight`"},
    {"jobs: {a: {run: x, sandbox: {}}}", "a sandbox needs one of strict, net, read-only, write"},
    {"jobs: {a: {run: x, sandbox: {net: maybe}}}", "expected on or off, found `maybe`"},
    {"jobs: {a: {run: x, sandbox: {read-only: data}}}", "a path of a sandbox is absolute, found `data`"},
    {"jobs: {a: {run: x, sandbox: {readonly: /data}}}", "did you mean `read-only`?"},
    {"jobs: {a: {noop: true, sandbox: strict}}", "only a job that runs a program has a sandbox"},
    {"", "line 1, column 1: expected a value, found nothing"},
    {"[]", "flow.yaml:1:1: expected a flow, found an array"},
    {"jobs: {a: x}\njobs: {b: y}", "line 2, column 1: expected each key of an object once"},
    {"jobs:\n  a: [x", "line "},
    {"a: b\n---\nc: d", "found a second"},
    {"name: x", "flow.yaml:1:1: a flow needs its `jobs`"},
    {"jobs: {}", "flow.yaml:1:7: a flow needs at least one job"},
    {"jobs: [a]", "flow.yaml:1:7: expected jobs by their names, found an array"},
    {"jbos: {a: x}", "flow.yaml:1:1: a flow has no key `jbos`; did you mean `jobs`?"},
    {"zzz: 1\njobs: {a: x}", "flow.yaml:1:1: a flow has no key `zzz`"},
    {"jobs:\n  a: {run: x, retrys: 3}", "flow.yaml:2:15: a job has no key `retrys`; did you mean `retries`?"},
    {"jobs:\n  a: {run: x, <<: 3}", "use `defaults` for what jobs share"},
    {"jobs:\n  a: {archive: {entry: x}}", "flow.yaml:2:16: an archive needs its `file`"},
    {"jobs:\n  a: {archive: big.sh, workdir: /tmp}", "an archive runs where it is unpacked: use `dir` instead of"},
    {"jobs:\n  a: {retries: 3}", "flow.yaml:2:3: a job needs one of run, script, archive, http, handler, service, gate, external, noop, sleep, fail"},
    {"jobs:\n  a: {http: {method: GET}}", "flow.yaml:2:13: a request needs its `url`"},
    {"jobs:\n  a: {external: {poll: {run: x}}}", "flow.yaml:2:24: a poll needs its interval"},
    {"jobs:\n  a: {run: x, noop: true}", "flow.yaml:2:3: a job has exactly one kind: found `run` and `noop`"},
    {"jobs:\n  a: {noop: false}", "`noop` can only be true"},
    {"jobs:\n  a: {run: []}", "flow.yaml:2:12: expected a program and its arguments, found an empty list"},
    {"jobs:\n  a: {run: {x: y}}", "flow.yaml:2:12: expected a command, found an object"},
    {"jobs:\n  a: {run: [x, [y]]}", "flow.yaml:2:16: expected an argument, found an array"},
    {"jobs:\n  a: 5", "flow.yaml:2:6: expected a job, found a number"},
    {"jobs:\n  a: [x]", "flow.yaml:2:6: expected a job, found an array"},
    {"jobs:\n  a/b: x", "control characters or / # ~ ["},
    {"jobs:\n  a: {fail: 0}", "an exit code between 1 and 255"},
    {"jobs:\n  a: {run: x, timeout: 90}", "flow.yaml:2:24: expected a duration with its unit, like `90s` or `90m`"},
    {"jobs:\n  a: {run: x, timeout: soon}", "expected a duration like 250ms, 90s, 5m, 1h30m or 2d, found `soon`"},
    {"jobs:\n  a: {run: x, timeout: 5m1h}", "found `5m1h`"},
    {"jobs:\n  a: {run: x, backoff: {cap: 60d}}", "below 49 days"},
    {"jobs:\n  a: {run: x, deadline: 2026-02-30T00:00:00Z}", "expected a time like"},
    {"jobs:\n  a: {run: x, retries: -1}", "expected a whole number, 0 or more, found `-1`"},
    {"jobs:\n  a: {run: x, retries: many}", "expected a whole number"},
    {"jobs:\n  a: {run: x, retries: [1]}", "expected a number, found an array"},
    {"jobs:\n  a: {run: x, exclusive: yes}", "expected true or false, found `yes`"},
    {"jobs:\n  a: {run: x, priority: urgent}", "expected low, normal, high or a number, found `urgent`"},
    {"jobs:\n  a: {run: x, on_upstream: wait}", "expected fail, skip or run, found `wait`"},
    {"jobs:\n  a: {run: x, trigger: any}",
     "expected all_succeeded, none_failed, one_succeeded or all_done, found `any`"},
    {"jobs:\n  a: {run: x, trigger: all_succeeded, on_upstream: run}",
     "flow.yaml:2:6: `on_upstream: run` means `trigger: all_done`; beside `trigger: all_succeeded` write `fail`"},
    {"jobs:\n  a: {run: x, retry_on: [lost, never]}", "expected `lost`, `timeout` or `exit`, found `never`"},
    {"jobs:\n  a: {run: x, retry_on: []}", "use `retries: 0`"},
    {"compensate_on: any\njobs:\n  a: x", "flow.yaml:1:16: expected fatal or failure, found `any`"},
    {"timeout: soon\njobs:\n  a: x", "flow.yaml:1:10: expected"},
    {"deadline: soon\njobs:\n  a: x", "flow.yaml:1:11: expected a time like 2026-03-01T08:00:00Z, or a duration like 2h"},
    {"jobs: {a: x}\nfinally: {}", "flow.yaml:2:10: a flow needs at least one job"},
    {"finally: {a: x}", "a flow needs its `jobs`"},
    {"jobs: {a: x}\nfinally: {a: y}", "flow.yaml:2:11: there are two jobs `a`"},
    {"jobs: {a: x}\nfinally: {b: {run: y, needs: a}}",
     "`a` is of `jobs`: leave it out of `needs`, they run one after the other by themselves"},
    {"jobs: {a: {run: x, needs: b}}\non_failure: {b: y}", "`b` is of `on_failure`: leave it out of `needs`"},
    {"jobs: {a: x}\nfinally: {b: {run: y, foreach: [1]}}", "a job of `finally` cannot have `foreach`"},
    {"jobs: {a: x}\nfinally: {b: {run: y, cache: true}}", "a job of `finally` cannot have `cache`"},
    {"jobs: {a: x}\nfinally: {b: {run: y, compensate: z}}", "a job of `finally` cannot have `compensate`"},
    {"jobs: {a: x}\nfinally: {b: {run: y, deadline: 2h}}", "a job of `finally` cannot have `deadline`"},
    {"jobs: {a: x}\nfinally: {b: {service: {run: y}}}", "a job of `finally` cannot have `service`"},
    {"jobs: {a: {run: x, artifacts: [f]}}\nfinally: {b: {run: y, inputs: {f: a/f}}}",
     "a job of `finally` cannot take files of `jobs`"},
    {"jobs:\n  a: {run: x, token: [read, admin]}", "`read` or `submit`"},
    {"jobs:\n  a: {run: x, fatal_exit_codes: [300]}", "an exit code between 1 and 255"},
    {"jobs:\n  a: {run: x, resources: {memory: lots}}", "expected a size like 64KiB, 512MiB or 2GiB, found `lots`"},
    {"jobs:\n  a: {run: x, resources: {cpu: one}}", "a number like 2 or 0.5"},
    {"jobs:\n  a: {run: x, resources: {ram: 1}}", "flow.yaml:2:27: resources has no key `ram`"},
    {"jobs:\n  a: {run: x, limits: {memory: 64}}", "`limits.memory` is at least 1MiB, found 64 bytes"},
    {"jobs:\n  a: {run: x, limits: {cpu: 0.001}}", "`limits.cpu` is at least 0.01"},
    {"jobs:\n  a: {run: x, limits: {pid: 1}}", "limits has no key `pid`; did you mean `pids`?"},
    {"jobs:\n  a: {run: x, limits: {memory: 1GiB}, resources: {memory: 2GiB}}",
     "`resources.memory` asks for more than `limits.memory` allows"},
    {"jobs:\n  a: {run: x, limits: {cpu: 1}, resources: {cpu: 2}}", "`resources.cpu` asks for more than `limits.cpu`"},
    {"jobs:\n  a: {run: x, env: [A]}", "expected names with their values, found an array"},
    {"jobs:\n  a: {run: x, env: {A: {}}}", "expected a plain value, found an object"},
    {"jobs:\n  a: {run: x, pool: p, topic: t}", "`pool` or `topic`, not both"},
    {"jobs:\n  a: {run: x, artifacts: out}", "expected a list of paths, found a text"},
    {"jobs:\n  a: {run: x, artifacts: [{name: n}]}", "an artifact needs its `path`"},
    {"jobs:\n  a: {run: x, inputs: [y]}", "flow.yaml:2:23: expected an object like `{data.csv: extract/out.csv}`"},
    {"jobs:\n  a: {run: x, inputs: {y: z}}", "flow.yaml:2:27: expected an artifact of a job, like `extract/out.csv`"},
    {"jobs:\n  a: {run: x, inputs: {y: b/z}}", "there is no job `b` in this flow"},
    {"jobs:\n  a: {run: x, artifacts: [z]}\n  b: {run: x, inputs: {y: a/z}}", "it uses a file of `a`: add `a` to `needs`"},
    {"jobs:\n  a: {run: x, artifacts: [z]}\n  b: {run: x, needs: a, inputs: {y: a/q}}", "`a` has no artifact `q`"},
    {"jobs:\n  a: {script: nope.py}", "flow.yaml:2:15: nope.py: No such file"},
    {"jobs:\n  a: {script: {file: x.py, text: y}}", "exactly one of `file` and `text`"},
    {"jobs:\n  a: {handler: T, stdin: x}", "the standard input of a handler is its `payload`"},
    {"jobs:\n  a: {handler: '', payload: x}", "`handler` is the name of a type of job"},
    {"jobs:\n  a: {run: x, payload: y}", "`payload` needs a `handler`"},
    {"jobs:\n  a: {handler: T, run: x}", "a job has exactly one kind"},
    {"jobs:\n  a: {run: x, stdin: {}}", "exactly one of `text` and `file`"},
    {"jobs:\n  a: {run: x, needs: b}", "flow.yaml:2:22: there is no job `b` in this flow"},
    {"jobs:\n  a: {run: x, needs: [extrat]}\n  extract: y", "flow.yaml:2:23: there is no job `extrat`; did you mean `extract`?"},
    {"jobs:\n  a: {run: x, needs: a}", "a job cannot need itself"},
    {"jobs:\n  b: y\n  a: {run: x, needs: [b, b]}", "flow.yaml:3:26: `b` is needed twice"},
    {"jobs:\n  s: z\n  a: {run: x, needs: [s, b]}\n  b: {run: y, needs: c}\n  c: {run: y, needs: a}", "dependency cycle: b → a → c → b"},
    {"jobs:\n  a: {run: x, phase: 2, needs: b}\n  b: {run: x, phase: 3}", "flow.yaml:"},
    {"jobs:\n  a: {run: x, phase: first}", "expected the number of a phase"},
    {"phases: [one, two]\njobs:\n  a: {run: x, phase: tow}", "did you mean `two`"},
    {"phases: [one, two]\njobs:\n  before-two: x\n  a: {run: x, phase: one}\n  b: {run: x, phase: two}", "rename the job"},
    {"jobs:\n  a: {run: 'x ${params.y}'}", "flow.yaml:2:12: there is no parameter `y`"},
    {"params: {yes: 1}\njobs:\n  a: {run: 'x ${params.yess}'}", "did you mean `yes`?"},
    {"params: {y: 1}\njobs:\n  a: {run: 'x ${params.y'}", "without its `}`"},
    {"params: [a]\njobs: {a: x}", "expected parameters with their values, found an array"},
    {"params: {a: [1]}\njobs: {a: x}", "flow.yaml:1:13: expected a plain value"},
    {"params: {a b: 1}\njobs: {a: x}", "letters, digits, `_` and `-`"},
    {"defaults: {needs: a}\njobs: {a: x}", "flow.yaml:1:12: `needs` cannot stand in defaults"},
    {"defaults: {run: a}\njobs: {a: x}", "`run` cannot stand in defaults"},
    {"defaults: make\njobs: {a: x}", "expected a job, found a text"},
    {"jobs:\n  a: {run: x, compensate: {gate: y}}", "`gate` cannot stand in a compensation"},
    {"jobs:\n  a: {run: x, compensate: {timeout: 1s}}", "a compensation needs one of run, script, archive, http, handler, noop, sleep, fail"},
    {"jobs:\n  a: {run: x, foreach: {max_parallel: 2}}", "a foreach needs its items"},
    {"jobs:\n  a: {run: x, foreach: {in: y, allow: 101%}}", "expected a number or a share"},
    {"jobs:\n  a: {run: 'x ${item}'}", "`${item}` needs a `foreach`"},
    {"jobs:\n  a: {run: x, when: 'a ='}", "flow.yaml:2:21: when:1: "},
    {"jobs:\n  a: {run: x, when: {b: 1}}", "expected an expression, found an object"},
    {"params: {x: 1}\njobs:\n  a: {run: x, when: '${params.x} == 1'}", "params.NAME, not ${params.NAME}"},
    {"params: {count: 1}\njobs:\n  a: {run: x, foreach: params.cuont}", "did you mean `count`?"},
    {"jobs:\n  b: x\n  a: {run: x, foreach: 'jobs.b.outputs'}", "flow.yaml:3:24: it uses outputs of `b`"},
    {"jobs:\n  b: x\n  a: {run: x, needs: b, when: 'jobs.b.outputs and jobs[\"c\"].state'}", "there is no job `c`"},
    {"jobs:\n  b: x\n  c: x\n  a: {run: x, needs: c, when: jobs.b.state}", "it uses outputs of `b`"},
    {"jobs:\n  a: {run: x, env: {A: '${= 1 +}'}}", "flow.yaml:2:24: ${=}:1: "},
    {"jobs:\n  a: {run: x, stdin: '${jobs.b'}", "without its `}`"},
    {"jobs:\n  a: {script: {name: a.sh, text: 'x ${jobs.b.outputs}'}}", "pass it in `args` or `env`"},
    {"params: {x: 'a b'}\njobs:\n  a: {run: 'x ${params.x}'}", "flow.yaml:3:12: ${params.x} contains characters"},
    {"params: {x: 'a b'}\njobs:\n  a: {run: [sh, -c, 'x ${params.x}']}", "pass it in `env`"},
    {"params: {x: 'a b'}\njobs:\n  a: {script: {name: a.py, text: 'x ${params.x}'}}", "pass it in `env`"},
    {"jobs:\n  a: {run: x, compensate: {run: 'x ${jobs.a.outputs}'}}", "a compensation has no templates"},
    {"jobs:\n  b: x\n  a: {run: 'x ${jobs.b.outputs.y}'}", "flow.yaml:3:3: it uses outputs of `b`: add that job to `needs`"},
    {"jobs:\n  bee: x\n  a: {env: {A: '${jobs.bea.outputs.y}'}, run: x}", "flow.yaml:3:3: there is no job `bea`; did you mean `bee`?"},
    {"jobs:\n  a: {service: {port: 80}}", "flow.yaml:2:3: a service needs its program: `run`, `script` or `archive`"},
    {"jobs:\n  a: {service: {run: x, script: y.sh}}", "one of `run`, `script` and `archive`"},
    {"jobs:\n  a: {service: x, run: y}", "a job has exactly one kind"},
    {"jobs:\n  a: {service: {run: x, port: 0}}", "flow.yaml:2:31: expected a port between 1 and 65535, or `auto`, found `0`"},
    {"jobs:\n  a: {service: {run: x, port: http}}", "found `http`"},
    {"jobs:\n  a: {service: {run: x, health: /up}}", "set `port`"},
    {"jobs:\n  a: {service: {run: x, port: 80, health: up}}", "begins with `/`, found `up`"},
    {"jobs:\n  a: {service: {run: x, port: 80, health: '/a b'}}", "blanks or control characters"},
    {"jobs:\n  a: {service: {run: x, port: 80, health: {http: /, tcp: true}}}", "one of `http`, `tcp` and `command`"},
    {"jobs:\n  a: {service: {run: x, health: {command: []}}}", "expected a program and its arguments"},
    {"jobs:\n  a: {service: {run: x, health: {every: 1s}}}", "a health has no key `every`"},
    {"jobs:\n  a: {service: {run: x, port: 80}, sandbox: strict}", "set `net: on` in the sandbox"},
    {"jobs:\n  a: {service: {run: x, port: 80, replicas: 2}}", "flow.yaml:2:31: replicas on one machine cannot share port 80: use `port: auto`"},
    {"jobs:\n  a: {service: {run: x, port: 80, update: start_first}}", "both cannot have port 80"},
    {"jobs:\n  a: {service: {run: x, health: {port: 81}, update: start_first}}", "both cannot have port 81"},
    {"jobs:\n  a: {service: {run: x, update: start_first}, exclusive: true}", "which `exclusive: true` forbids"},
    {"jobs:\n  a: {service: {run: x, update: soon}}", "stop_first or start_first"},
    {"jobs:\n  a: {service: {run: x, replicas: 0}}", "`replicas` is between 1 and 256"},
    {"jobs:\n  a: {service: {run: x, replicas: 257}}", "`replicas` is between 1 and 256"},
    {"jobs:\n  a: {service: {run: x, max_parallel: 2}}", "`max_parallel` of a service needs `replicas`"},
    {"jobs:\n  a: {service: {run: x, replicas: 2}, approval: ok?}", "let the service need a job with `gate`"},
    {"jobs:\n  a: {service: x, foreach: [1]}", "every service needs its own name"},
    {"jobs:\n  a: {service: x, compensate: y}", "use `reeve stop`"},
    {"jobs:\n  a: {service: x, cache: true}", "it has no result"},
    {"jobs:\n  a: {service: x, artifacts: [y]}", "it does not end"},
    {"defaults: {service: x}\njobs: {a: x}", "`service` cannot stand in defaults"},
    {"jobs:\n  a: *x", "an alias of an anchor that does not stand before it"},
    {"jobs:\n  ? [x]\n  : y", "expected a plain key"},
    {"\tjobs: x", "line 1"},
    {"jobs:\n  a: {run: x}\n b: y", "line 3"},
    {"{\"jobs\":{\"a\":{\"run\":\"x\",\"tiemout\":\"1s\"}}}", "flow.yaml:1:25: a job has no key `tiemout`; did you mean `timeout`?"},
};
/* clang-format on */

static void bad_files_are_told_where_and_why(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        enum err e = flowlab_read(&l, slice_str(bad[i].text), NULL);
        if (e == ERR_OK) fail_msg("accepted: %s", bad[i].text);
        if (strstr(l.why.text, bad[i].said) == NULL)
            fail_msg("%s\n  says: %s\n  not: %s", bad[i].text, l.why.text, bad[i].said);
    }
    flowlab_fini(&l);
}

static void aliases_cannot_explode(void **state) {
    (void)state;
    struct flowlab l;
    struct buf text;
    flowlab_init(&l);
    buf_init(&text, 1 << 16);
    buf_printf(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 12; i++) {
        buf_printf(&text, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++) buf_printf(&text, "%s*a%d", k ? "," : "", i - 1);
        buf_printf(&text, "]\n");
    }
    assert_int_equal(flowlab_read(&l, buf_slice(&text), NULL), ERR_LIMIT);
    buf_fini(&text);
    flowlab_fini(&l);
}

static void jobs_for_a_flow_that_is_there_may_need_its_jobs(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    const char *text = "jobs:\n  b: {needs: [a, c], run: 'echo ${jobs.a.outputs.x}'}\n  c: {run: x}\n";
    assert_int_equal(flowlab_read(&l, slice_str(text), NULL), ERR_UNKNOWN_NAME);
    l.grows = true;
    good(&l, text, NULL);
    const struct wire_job *b = flowlab_job(&l, "b");
    assert_int_equal(b->parents.count, 1);
    assert_int_equal(b->parent_names.count, 1);
    assert_slice(((const struct wire_name *)b->parent_names.at)[0].name, "a");
    /* what it uses it must need all the same */
    const char *wrong = "jobs:\n  b: {needs: c, run: 'echo ${jobs.a.outputs.x}'}\n  c: {run: x}\n";
    assert_int_equal(flowlab_read(&l, slice_str(wrong), NULL), ERR_UNKNOWN_NAME);
    flowlab_fini(&l);
}

static void a_hundred_thousand_jobs(void **state) {
    (void)state;
    struct flowlab l;
    struct buf text;
    flowlab_init(&l);
    buf_init(&text, 1 << 24);
    buf_printf(&text, "jobs:\n  end: {noop: true, phase: 2}\n");
    for (int i = 0; i < 100000; i++) buf_printf(&text, "  j%d: {noop: true, phase: 1}\n", i);
    if (flowlab_read(&l, buf_slice(&text), NULL) != ERR_OK) fail_msg("%s", l.why.text);
    assert_int_equal(l.flow.part.jobs.count, 100002);
    assert_int_equal(flowlab_job(&l, "before-phase-2")->parents.count, 100000);
    buf_fini(&text);
    flowlab_fini(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_flow),
        cmocka_unit_test(json_means_the_same),
        cmocka_unit_test(every_key_of_a_job),
        cmocka_unit_test(the_other_kinds),
        cmocka_unit_test(a_handler_is_a_type_and_a_payload),
        cmocka_unit_test(requests_and_the_outside),
        cmocka_unit_test(a_service_and_its_keys),
        cmocka_unit_test(defaults_hold_unless_a_job_says_otherwise),
        cmocka_unit_test(a_trigger_takes_the_place_of_run_in_the_defaults),
        cmocka_unit_test(every_form_of_a_sandbox_is_read),
        cmocka_unit_test(parameters_are_filled_in),
        cmocka_unit_test(phases_are_kept_apart_by_one_job),
        cmocka_unit_test(a_compensation_is_a_job_of_its_own),
        cmocka_unit_test(stages_and_times_of_a_flow),
        cmocka_unit_test(items_and_templates),
        cmocka_unit_test(lists_by_name_are_multiplied),
        cmocka_unit_test(templates_are_filled_in_by_stages),
        cmocka_unit_test(a_slot_decides_parameters),
        cmocka_unit_test(what_a_slot_cannot_decide_is_refused),
        cmocka_unit_test(anchors_stand_for_what_they_name),
        cmocka_unit_test(bad_files_are_told_where_and_why),
        cmocka_unit_test(aliases_cannot_explode),
        cmocka_unit_test(jobs_for_a_flow_that_is_there_may_need_its_jobs),
        cmocka_unit_test(a_hundred_thousand_jobs),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
