/* up.c: see up.h.
 *
 * Server and worker (with --workers: a scaler that starts some) are processes of their own, so that killing one does
 * not kill the other; whichever ends is started again, after a wait that doubles while it keeps ending early. What they
 * say goes to files in the data directory. TERM or INT ends the worker first, which may finish what runs, then the
 * server. Should the supervisor itself be killed, the kernel tells both to end. With --playground a server that ended
 * is not started again at once: up_playground.h. */
#include "up.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "scaler_options.h"
#include "spec_value.h"
#include "up_playground.h"

#define PATH_BYTES 512u
#define LINE_BYTES 128u
#define READY_MS_MAX 20000
#define EARLY_MS 10000 /* an end before this is a failure to start */
#define WAIT_MS_MAX 30000
#define ARGS_MAX 32
#define SOCKET_PATH_MAX 100u /* the kernel takes 107 */
#define LISTEN_STANDARD "127.0.0.1:7070"
#define TITAN_STANDARD "127.0.0.1:9090"      /* where its clients look */
#define TITAN_HTTP_STANDARD "127.0.0.1:5000" /* where its pages and its SDK look */
#define RESP_STANDARD "127.0.0.1:6379"
#define ORION_STANDARD "127.0.0.1:8080" /* where its front end looks */
#define ORION_ANYWHERE "127.0.0.1:0"
#define ADDRESS_IN_USE "address already in use" /* of the server's words: the most frequent reason not to start */
#define PLAYGROUND_SLOTS_MIN 4                  /* the demo runs branches side by side */

enum up_part { PART_SERVER, PART_WORKER, PART_COUNT };
static const char *const part_words[PART_COUNT] = {"serve", "worker"};

struct up {
    char data[PATH_BYTES], worker_data[PATH_BYTES];
    const char *listen, *slots, *workers, *idle, *build;
    const char *pass_env;              /* what jobs get of our environment; NULL = no more than usual */
    uint32_t workers_min, workers_max; /* with `workers`: a scaler in place of the worker */
    bool detach, help, playground;
    const char *cors_origin;
    const char *orion;          /* address of the listener for Orion's interface; NULL = none */
    const char *orion_work_ms;  /* how long a task of it works; NULL = as the server has it */
    bool orion_anywhere;        /* nobody said where: another port will do */
    const char *titan;          /* the same for Titan's protocol */
    const char *titan_http;     /* and for the interface of its dashboard */
    const char *resp;           /* address of the listener for Redis clients; NULL = none */
    struct up_playground *play; /* NULL = there is none */
    struct {
        pid_t pid; /* 0: it does not run */
        int64_t started_ms, again_ms, wait_ms;
    } parts[PART_COUNT];
    int signals;   /* signalfd */
    bool is_ready; /* the server was there once: before, its end is told by whoever waits for it */
    bool stopping;
    bool is_down, now; /* `down`, which does not wait for running jobs */
};

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- options ---- */

static enum err options_read(struct up *u, int count, char **args, struct why *why) {
    const char *data = getenv("REEVE_DATA");
    if (data == NULL || data[0] == 0) data = ".reeve";
    for (int i = 0; i < count; i++) {
        const char *name = args[i];
        if (strcmp(name, "--detach") == 0 || strcmp(name, "-d") == 0) {
            u->detach = true;
            continue;
        }
        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
            u->help = true;
            return ERR_OK;
        }
        if (strcmp(name, "--now") == 0 && u->is_down) {
            u->now = true;
            continue;
        }
        if (strcmp(name, "--playground") == 0) {
            u->playground = true;
            continue;
        }
        if (strcmp(name, "--orion") == 0 || strncmp(name, "--orion=", 8) == 0) {
            u->orion = name[7] == '=' ? name + 8 : ORION_STANDARD;
            continue;
        }
        if (strcmp(name, "--titan") == 0 || strncmp(name, "--titan=", 8) == 0) {
            u->titan = name[7] == '=' ? name + 8 : TITAN_STANDARD;
            if (name[7] != '=' && u->titan_http == NULL) u->titan_http = TITAN_HTTP_STANDARD;
            continue;
        }
        if (strcmp(name, "--titan-http") == 0 || strncmp(name, "--titan-http=", 13) == 0) {
            u->titan_http = name[12] == '=' ? name + 13 : TITAN_HTTP_STANDARD;
            if (strcmp(u->titan_http, "off") == 0) u->titan_http = "";
            continue;
        }
        if (strcmp(name, "--resp") == 0 || strncmp(name, "--resp=", 7) == 0) {
            u->resp = name[6] == '=' ? name + 7 : RESP_STANDARD;
            continue;
        }
        const char **to = strcmp(name, "--data") == 0            ? &data
                          : strcmp(name, "--listen") == 0        ? &u->listen
                          : strcmp(name, "--slots") == 0         ? &u->slots
                          : strcmp(name, "--workers") == 0       ? &u->workers
                          : strcmp(name, "--idle") == 0          ? &u->idle
                          : strcmp(name, "--pass-env") == 0      ? &u->pass_env
                          : strcmp(name, "--cors-origin") == 0   ? &u->cors_origin
                          : strcmp(name, "--orion-work-ms") == 0 ? &u->orion_work_ms
                                                                 : NULL;
        if (to == NULL) return why_set(why, ERR_INVALID, "there is no flag %s", name);
        if (i + 1 == count) return why_set(why, ERR_INVALID, "%s needs a value", name);
        *to = args[++i];
    }
    if (strlen(data) + 32 > sizeof u->data) return why_set(why, ERR_LIMIT, "--data: the path is too long");
    if (u->orion != NULL && strcmp(u->orion, "no") == 0)
        u->orion = NULL;
    else if (u->playground && u->orion == NULL)
        u->orion = ORION_STANDARD, u->orion_anywhere = true;
    if (u->titan != NULL && u->pass_env == NULL) u->pass_env = "all"; /* as jobs of Titan's workers get it */
    if (u->orion_work_ms != NULL && u->orion == NULL)
        return why_set(why, ERR_INVALID, "--orion-work-ms needs --orion or --playground");
    snprintf(u->data, sizeof u->data, "%s", data);
    snprintf(u->worker_data, sizeof u->worker_data, "%s/worker%s", data, u->workers != NULL ? "s" : "");
    int64_t idle_ms = 0;
    if (u->playground && u->slots != NULL && strtol(u->slots, NULL, 10) < PLAYGROUND_SLOTS_MIN)
        return why_set(why, ERR_INVALID, "--slots: the playground needs at least %d", PLAYGROUND_SLOTS_MIN);
    if (u->idle != NULL && u->workers == NULL) return why_set(why, ERR_INVALID, "--idle needs --workers");
    if (u->idle != NULL && !spec_duration(slice_str(u->idle), &idle_ms))
        return why_set(why, ERR_INVALID, "--idle: expected a duration like 90s or 5m, found `%s`", u->idle);
    return u->workers != NULL ? scaler_range_read(u->workers, &u->workers_min, &u->workers_max, why) : ERR_OK;
}

static void usage(void) {
    printf("usage: reeve up [--data DIR] [--listen HOST:PORT] [--slots N] [--workers MIN..MAX] [--pass-env LIST]\n"
           "                [--detach] [--playground] [--orion[=HOST:PORT]] [--titan[=HOST:PORT]]\n"
           "                [--titan-http[=HOST:PORT|off]] [--resp[=HOST:PORT]] [--cors-origin LIST]\n"
           "                [--orion-work-ms MIN..MAX]\n\n"
           "Starts a server and a worker here, and restarts either if it ends.\n\n"
           "  --data DIR          directory of the server (default: $REEVE_DATA, else ./.reeve); the worker uses "
           "DIR/worker\n"
           "  --listen HOST:PORT  address to listen on (default: 127.0.0.1:7070)\n"
           "  --slots N           jobs that the worker runs at once (default: 4)\n"
           "  --workers MIN..MAX  scale the number of workers with the load (default: one); they use DIR/workers\n"
           "  --pass-env LIST     variables of this environment that jobs get: NAME,NAME or all\n                      "
           "(default: none; with --titan: all)\n"
           "  --idle DURATION     idle time after which a worker is drained (default: 60s)\n"
           "  --detach, -d        run in the background; `reeve down` stops it\n"
           "  --playground        the console can kill the server: the port stays answered, and the server is "
           "restarted\n                      after 30 s or on request. Includes Orion's interface on port 8080 or a "
           "free port;\n                      --orion=no leaves it out\n"
           "  --orion[=HOST:PORT] also serve Orion's interface (default: 127.0.0.1:8080)\n"
           "  --orion-work-ms R   duration of a task of Orion's interface, in ms (default: 50..199); 2000..4999 is\n"
           "                      slow enough to watch\n"
           "  --titan[=HOST:PORT] also serve Titan's protocol (default: 127.0.0.1:9090), and with it\n"
           "  --titan-http[=…]    the HTTP interface of Titan's dashboard (default: 127.0.0.1:5000); off = not\n"
           "  --resp[=HOST:PORT]  also serve the shared store to Redis clients (default: 127.0.0.1:6379)\n"
           "  --cors-origin LIST  origins of web pages that may use Orion's interface, like http://localhost:3000\n");
}

/* ---- processes ---- */

static void child_output(const struct up *u, enum up_part p) {
    char path[PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s/%s.log", u->data, part_words[p]);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) return;
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
}

_Noreturn static void child_run(const struct up *u, enum up_part p) {
    bool scales = p == PART_WORKER && u->workers != NULL;
    const char *argv[ARGS_MAX] = {"reeve", scales ? "scaler" : part_words[p]};
    char min[16], max[16];
    sigset_t none;
    int n = 2;
    argv[n++] = "--data";
    argv[n++] = p == PART_SERVER ? u->data : u->worker_data;
    if (p == PART_SERVER) argv[n++] = "--may-start-workers", argv[n++] = "yes";
    if (p == PART_SERVER && u->listen != NULL) argv[n++] = "--listen", argv[n++] = u->listen;
    if (p == PART_SERVER && u->orion != NULL) argv[n++] = "--orion-listen", argv[n++] = u->orion;
    if (p == PART_SERVER && u->orion_work_ms != NULL) argv[n++] = "--orion-work-ms", argv[n++] = u->orion_work_ms;
    if (p == PART_SERVER && u->titan != NULL) argv[n++] = "--titan-listen", argv[n++] = u->titan;
    if (p == PART_SERVER && u->titan_http != NULL) argv[n++] = "--titan-http-listen", argv[n++] = u->titan_http;
    if (p == PART_SERVER && u->resp != NULL) argv[n++] = "--resp-listen", argv[n++] = u->resp;
    if (p == PART_SERVER && u->cors_origin != NULL) argv[n++] = "--cors-origin", argv[n++] = u->cors_origin;
    if (p == PART_WORKER && u->slots != NULL) argv[n++] = "--slots", argv[n++] = u->slots;
    if (p == PART_WORKER && u->pass_env != NULL) argv[n++] = "--pass-env", argv[n++] = u->pass_env;
    snprintf(min, sizeof min, "%u", u->workers_min);
    snprintf(max, sizeof max, "%u", u->workers_max);
    if (scales) argv[n++] = "--min", argv[n++] = min, argv[n++] = "--max", argv[n++] = max;
    if (scales && u->idle != NULL) argv[n++] = "--idle", argv[n++] = u->idle;
    /* By the socket: it stays the same when the server comes back, which its port need not. */
    char where[PATH_BYTES + 32];
    snprintf(where, sizeof where, "unix:%s/reeve.sock", u->data);
    if (p == PART_WORKER && strlen(where) < SOCKET_PATH_MAX) argv[n++] = "--server", argv[n++] = where;
    setenv("REEVE_DATA", u->data, 1); /* where the worker finds address and token */
    unsetenv("REEVE_SERVER");
    unsetenv("REEVE_TOKEN");
    if (p == PART_SERVER) unsetenv("REEVE_DATA");
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setpgid(0, 0); /* Ctrl-C is for the supervisor, which ends both in order */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    child_output(u, p);
    if (p == PART_SERVER && u->play != NULL) up_playground_child(u->play);
    execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
    _exit(127);
}

static enum err part_start(struct up *u, enum up_part p, struct why *why) {
    struct up_playground *play = p == PART_SERVER ? u->play : NULL;
    fflush(stdout);
    enum err e = play != NULL ? up_playground_before(play, why) : ERR_OK;
    if (e != ERR_OK) return e;
    pid_t pid = fork(); /* this process is small */
    if (pid < 0) return why_set(why, ERR_IO, "%s: %s", part_words[p], strerrordesc_np(errno));
    if (pid == 0) child_run(u, p);
    if (play != NULL) up_playground_started(play, pid);
    u->parts[p].pid = pid;
    u->parts[p].started_ms = now_ms();
    u->parts[p].again_ms = 0;
    return ERR_OK;
}

/* Something ended. Unless we are stopping it comes back. */
static void part_ended(struct up *u, pid_t pid, int status) {
    for (enum up_part p = 0; p < PART_COUNT; p++) {
        if (u->parts[p].pid != pid) continue;
        u->parts[p].pid = 0;
        if (p == PART_SERVER && u->play != NULL) up_playground_ended(u->play, now_ms());
        if (u->stopping || !u->is_ready) continue;
        bool early = now_ms() - u->parts[p].started_ms < EARLY_MS;
        int64_t wait = !early ? 0 : u->parts[p].wait_ms == 0 ? 500 : u->parts[p].wait_ms * 2;
        u->parts[p].wait_ms = wait > WAIT_MS_MAX ? WAIT_MS_MAX : wait;
        u->parts[p].again_ms = now_ms() + u->parts[p].wait_ms;
        fprintf(stderr, "reeve up: %s ended (%s %d) and is restarted; see %s/%s.log\n", part_words[p],
                WIFSIGNALED(status) ? "signal" : "exit", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                u->data, part_words[p]);
    }
}

static void reap(struct up *u) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) part_ended(u, pid, status);
}

/* ---- readiness ---- */

static bool is_ready(const struct up *u) {
    struct client c;
    struct why why;
    struct client_place where = {.data = u->data, .build = u->build};
    if (client_open(&c, &where, &why) != ERR_OK) return false;
    client_close(&c);
    return true;
}

/* A playground's server is not asked: its port takes connections before it is there. */
static bool has_come(struct up *u) {
    if (u->play == NULL) return is_ready(u);
    up_playground_step(u->play, NULL, 0, now_ms());
    return u->play->is_ready;
}

/* What it said last is why: a port that is taken, mostly. */
static enum err not_started(const struct up *u, struct why *why) {
    char path[PATH_BYTES + 16], line[300], last[300] = "";
    snprintf(path, sizeof path, "%s/serve.log", u->data);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (line[0] != '\n') snprintf(last, sizeof last, "%s", line);
    if (f != NULL) fclose(f);
    last[strcspn(last, "\n")] = 0;
    const char *reason = strncmp(last, "reeve serve: ", 13) == 0 ? last + 13 : last;
    const char *in_use = strstr(reason, ADDRESS_IN_USE);
    if (in_use != NULL)
        return why_set(why, ERR_IO, "%.*s; choose another with --listen",
                       (int)(in_use - reason) + (int)strlen(ADDRESS_IN_USE), reason);
    return why_set(why, ERR_IO, "the server did not start: %s (see %s)", reason, path);
}

static enum err wait_ready(struct up *u, struct why *why) {
    int64_t until = now_ms() + READY_MS_MAX;
    while (!has_come(u)) {
        struct pollfd p = {.fd = u->signals, .events = POLLIN};
        reap(u);
        if (u->parts[PART_SERVER].pid == 0) return not_started(u, why);
        if (now_ms() > until) return why_set(why, ERR_IO, "the server is not ready: see %s/serve.log", u->data);
        (void)poll(&p, 1, 20);
        struct signalfd_siginfo s;
        if (p.revents != 0 && read(u->signals, &s, sizeof s) == sizeof s && s.ssi_signo != SIGCHLD)
            return why_set(why, ERR_STATE, "interrupted");
    }
    u->is_ready = true;
    return ERR_OK;
}

/* A link by which a browser comes in, once. Nothing is lost when there is none: `reeve console` makes another. */
static void say_link(const struct up *u) {
    struct client c;
    struct client_frame f;
    struct wire_empty m = {0};
    struct why why;
    struct client_place where = {.data = u->data, .build = u->build};
    if (client_open(&c, &where, &why) != ERR_OK) return;
    if (client_ask(&c, WIRE_LOGIN_NEW, &m, &f, &why) == ERR_OK) {
        const struct wire_login_link *got = f.message;
        printf("Console (the link works once, for five minutes; `reeve console` makes another):\n\n  %.*s\n\n",
               SLICE_FMT(got->url));
    }
    client_close(&c);
}

/* The first line of a file in the data directory; "?" = there is none. */
static void line_of(const struct up *u, const char *name, char ret[LINE_BYTES]) {
    char path[PATH_BYTES + 32];
    snprintf(ret, LINE_BYTES, "?");
    snprintf(path, sizeof path, "%s/%s", u->data, name);
    FILE *f = fopen(path, "re");
    if (f == NULL) return;
    if (fgets(ret, LINE_BYTES, f) != NULL) ret[strcspn(ret, "\n")] = 0;
    fclose(f);
}

/* Where a listener was asked for; the server would not be there without it. */
static void say_listener(const char *what, const char *address) {
    if (address == NULL || address[0] == 0) return;
    const char *port = strrchr(address, ':');
    bool is_chosen = port != NULL && strcmp(port, ":0") == 0; /* by the system */
    printf("%s on %s%s.\n", what, address, is_chosen ? ", a free port that serve.log names" : "");
}

/* Its crash, recovery and auto demo need a token, which it takes from its address. */
static void say_orion_page(const struct up *u) {
    const char *page = u->cors_origin != NULL ? u->cors_origin : "http://localhost:3000";
    if (!u->playground || u->orion == NULL) return;
    printf("In Orion's front end, crash, recovery and auto demo need a token. Open it%s as\n\n"
           "  %.*s/#admin_token=$(cat %s/admin.token)\n\n",
           u->cors_origin != NULL ? "" : " (with --cors-origin http://localhost:3000 here)", (int)strcspn(page, ","),
           page, u->data);
}

static void say_where(const struct up *u) {
    char address[LINE_BYTES], orion[LINE_BYTES];
    const char *data = strcmp(u->data, ".reeve") == 0 ? NULL : u->data;
    line_of(u, "address", address);
    line_of(u, "orion.address", orion);
    printf("Server on %s and one worker started; logs: %s/*.log\n\n", address, u->data);
    say_listener("Orion's interface is", u->orion != NULL ? orion : NULL);
    say_listener("Titan's protocol is", u->titan);
    say_listener("The interface of Titan's dashboard is", u->titan_http);
    say_listener("Redis clients find the shared store", u->resp);
    if (u->titan != NULL && u->pass_env != NULL && u->pass_env[0] != 0)
        printf("Jobs get these variables of this environment: %s. Choose others with --pass-env NAME,NAME.\n",
               u->pass_env);
    if (u->orion != NULL || u->titan != NULL || u->titan_http != NULL || u->resp != NULL) printf("\n");
    say_orion_page(u);
    say_link(u);
    if (data != NULL) printf("  export REEVE_DATA=%s\n", data);
    printf("  reeve run -- echo hello       run one command as a job\n"
           "  reeve submit FLOW.yaml -w     submit a flow and wait; see examples/\n"
           "  reeve ls                      list flows, newest first\n"
           "  reeve top                     live view\n"
           "  reeve help                    list the verbs\n");
    printf(u->detach ? "  reeve down                    stop both\n" : "\nCtrl-C stops both.\n");
    fflush(stdout);
}

/* ---- the loop ---- */

/* The worker first: it may finish what runs and deliver it. */
static void stop_next(struct up *u) {
    if (u->parts[PART_WORKER].pid != 0)
        kill(u->parts[PART_WORKER].pid, SIGTERM);
    else if (u->parts[PART_SERVER].pid != 0)
        kill(u->parts[PART_SERVER].pid, SIGTERM);
}

static bool runs(const struct up *u) {
    return u->parts[PART_SERVER].pid != 0 || u->parts[PART_WORKER].pid != 0;
}

static int64_t again_at(const struct up *u, enum up_part p) {
    return p == PART_SERVER && u->play != NULL ? u->play->again_ms : u->parts[p].again_ms;
}

static int next_wait(const struct up *u) {
    int64_t next = u->play != NULL && standin_is_waiting(&u->play->understudy) ? 1000 : -1, now = now_ms();
    for (enum up_part p = 0; p < PART_COUNT && !u->stopping; p++) {
        if (u->parts[p].pid != 0) continue;
        int64_t left = again_at(u, p) > now ? again_at(u, p) - now : 0;
        if (next < 0 || left < next) next = left;
    }
    return (int)next;
}

static void wait_turn(struct up *u) {
    struct pollfd fds[1 + UP_PLAYGROUND_FDS] = {{.fd = u->signals, .events = POLLIN}};
    uint32_t count = u->play != NULL ? up_playground_poll(u->play, fds + 1) : 0;
    (void)poll(fds, 1 + count, next_wait(u));
    if (u->play != NULL) up_playground_step(u->play, fds + 1, count, now_ms());
}

static enum err supervise(struct up *u, struct why *why) {
    while (!u->stopping || runs(u)) {
        struct signalfd_siginfo s;
        wait_turn(u);
        while (read(u->signals, &s, sizeof s) == sizeof s) {
            if (s.ssi_signo == SIGCHLD) continue;
            if (u->stopping && u->parts[PART_WORKER].pid != 0) kill(u->parts[PART_WORKER].pid, SIGTERM);
            if (!u->stopping)
                fprintf(stderr, "reeve up: stopping after the running jobs; a second signal does not wait\n");
            u->stopping = true;
            stop_next(u);
        }
        bool had_worker = u->parts[PART_WORKER].pid != 0;
        reap(u);
        if (u->stopping && had_worker && u->parts[PART_WORKER].pid == 0) stop_next(u);
        for (enum up_part k = 0; k < PART_COUNT && !u->stopping; k++) {
            if (u->parts[k].pid != 0 || now_ms() < again_at(u, k)) continue;
            enum err e = part_start(u, k, why);
            if (e != ERR_OK) return e;
        }
    }
    return ERR_OK;
}

static enum err signals_open(struct up *u, struct why *why) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    u->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return u->signals >= 0 ? ERR_OK : why_set(why, ERR_IO, "signals: %s", strerrordesc_np(errno));
}

/* Held by the supervisor while it lives: the number in the file may otherwise be another's by now. */
static bool pid_lock(int fd, bool take) {
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (take) return fcntl(fd, F_OFD_SETLK, &l) == 0;
    return fcntl(fd, F_OFD_GETLK, &l) == 0 && l.l_type == F_UNLCK;
}

static enum err pid_write(const struct up *u, struct why *why) {
    char path[PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s/up.pid", u->data);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600); /* never closed: the lock ends with the process */
    if (fd < 0) return why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    if (!pid_lock(fd, true)) return why_set(why, ERR_STATE, "another `reeve up` is running on %s", u->data);
    if (ftruncate(fd, 0) != 0 || dprintf(fd, "%d\n", (int)getpid()) < 0)
        return why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    return ERR_OK;
}

/* The child goes on as the supervisor; this process returns when that one says that all is there. */
static enum err detach(int *ret_tell, bool *ret_is_parent, struct why *why) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return why_set(why, ERR_IO, "pipe: %s", strerrordesc_np(errno));
    pid_t pid = fork();
    if (pid < 0) return why_set(why, ERR_IO, "fork: %s", strerrordesc_np(errno));
    *ret_is_parent = pid != 0;
    close(fds[pid != 0 ? 1 : 0]);
    *ret_tell = fds[pid != 0 ? 0 : 1];
    if (pid == 0) setsid();
    return ERR_OK;
}

static enum err wait_told(int fd, struct why *why) {
    struct why said = {{0}};
    ssize_t n = read(fd, said.text, sizeof said.text - 1);
    close(fd);
    if (n == 1 && said.text[0] == '\n') return ERR_OK;
    return why_set(why, ERR_IO, "%s", n > 0 ? said.text : "it ended before it was ready");
}

static void tell(int fd, enum err e, const struct why *why) {
    if (fd < 0) return;
    const char *text = e == ERR_OK ? "\n" : why->text;
    if (write(fd, text, strlen(text)) < 0) return;
    close(fd);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 3; i++) dup2(null, i);
}

static enum err play_open(struct up *u, struct why *why) {
    static struct up_playground play;
    if (!u->playground) return ERR_OK;
    struct up_playground_where where = {u->data, u->listen != NULL ? u->listen : LISTEN_STANDARD, u->orion,
                                        u->orion_anywhere ? ORION_ANYWHERE : NULL};
    enum err e = up_playground_open(&play, &where, why);
    play.understudy.origins = u->cors_origin;
    if (e == ERR_OK) u->play = &play;
    return e;
}

enum err up_run(int count, char **args, const char *build, struct why *why) {
    static struct up u;
    int fd = -1;
    bool is_parent = false;
    enum err e = options_read(&u, count, args, why);
    u.build = build;
    if (e == ERR_OK && u.help) {
        usage();
        return ERR_OK;
    }
    if (e == ERR_OK && is_ready(&u)) e = why_set(why, ERR_STATE, "a server is already running on %s", u.data);
    if (e != ERR_OK) return e;
    if (mkdir(u.data, 0700) != 0 && errno != EEXIST)
        return why_set(why, ERR_IO, "%s: %s", u.data, strerrordesc_np(errno));
    if (u.detach) e = detach(&fd, &is_parent, why);
    if (e == ERR_OK && is_parent) {
        e = wait_told(fd, why);
        if (e == ERR_OK) say_where(&u);
        return e;
    }
    if (e == ERR_OK) e = signals_open(&u, why);
    if (e == ERR_OK) e = pid_write(&u, why);
    if (e == ERR_OK) e = play_open(&u, why);
    if (e == ERR_OK) e = part_start(&u, PART_SERVER, why);
    if (e == ERR_OK) e = wait_ready(&u, why);
    if (e == ERR_OK) e = part_start(&u, PART_WORKER, why);
    tell(fd, e, why);
    if (e == ERR_OK && !u.detach) say_where(&u);
    struct why after;
    if (e != ERR_OK) u.stopping = true, stop_next(&u);
    enum err e2 = supervise(&u, e == ERR_OK ? why : &after);
    return e != ERR_OK ? e : e2;
}

/* ---- down ---- */

#define TELL_MS 1000 /* a worker without jobs is gone before */
#define AGAIN_MS 100

/* Jobs that run; -1: the server does not say. */
static int jobs_running(const struct up *u) {
    struct client c;
    struct client_frame f;
    struct why why;
    struct wire_list m = {.what = WIRE_LIST_WORKERS, .most = 1000};
    struct client_place where = {.data = u->data, .build = u->build};
    int running = 0;
    if (client_open(&c, &where, &why) != ERR_OK) return -1;
    bool answers = client_ask(&c, WIRE_LIST, &m, &f, &why) == ERR_OK;
    const struct wire_listed *page = f.message;
    for (uint32_t i = 0; answers && i < page->workers.count; i++)
        running += (int)((const struct wire_worker_view *)page->workers.at)[i].active;
    client_close(&c);
    return answers ? running : -1;
}

static void tell_waiting(const struct up *u) {
    int running = jobs_running(u);
    if (running > 0)
        fprintf(stderr, "reeve down: waiting for %d running job%s; `reeve down --now` kills %s\n", running,
                running == 1 ? "" : "s", running == 1 ? "it" : "them");
}

/* Until the supervisor has ended, and with it its lock. A further signal ends the worker at once; one that comes too
 * soon is the same as the first. */
static void wait_down(const struct up *u, int lock, pid_t pid) {
    int64_t tell_at = now_ms() + TELL_MS;
    while (!pid_lock(lock, false)) {
        (void)poll(NULL, 0, u->now ? AGAIN_MS : 20);
        if (u->now) (void)kill(pid, SIGTERM);
        if (u->now || tell_at == INT64_MAX || now_ms() < tell_at) continue;
        tell_waiting(u);
        tell_at = INT64_MAX;
    }
}

enum err up_down(int count, char **args, struct why *why) {
    static struct up u = {.is_down = true, .build = ""};
    char path[PATH_BYTES + 16];
    long pid = 0;
    enum err e = options_read(&u, count, args, why);
    if (e != ERR_OK) return e;
    if (u.help) {
        printf(
            "usage: reeve down [--data DIR] [--now]\n\n"
            "Stops what `reeve up` started, after the running jobs.\n\n"
            "  --data DIR  directory of the server (default: $REEVE_DATA, else ./.reeve)\n"
            "  --now       kill running jobs instead of waiting; those with retries left run again after the next "
            "start\n");
        return ERR_OK;
    }
    snprintf(path, sizeof path, "%s/up.pid", u.data);
    FILE *f = fopen(path, "r+e");
    bool there = f != NULL && fscanf(f, "%ld", &pid) == 1 && pid > 1 && !pid_lock(fileno(f), false);
    if (there && kill((pid_t)pid, SIGTERM) != 0) there = false;
    if (there) wait_down(&u, fileno(f), (pid_t)pid);
    if (f != NULL) fclose(f);
    if (!there) return why_set(why, ERR_NOT_FOUND, "nothing that `reeve up` started is running on %s", u.data);
    (void)unlink(path);
    printf("stopped server and worker on %s\n", u.data);
    return ERR_OK;
}
