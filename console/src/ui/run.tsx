// What a job runs, as the worker gets it: rendered, with nothing left out. The Job page shows it, and approvals are
// decided on it.
import type { ComponentChildren } from "preact";

import { urlOf, type Schemas } from "../api/client";
import { bytesText, durationText } from "./parts";
import { Copied, Download, Facts, prettyJson, Tags } from "./show";
import "./run.css";

export type Run = Schemas["run"];
type Bytes = Schemas["bytes"];

/** As a shell would take it: words with anything but plain characters are quoted. */
export function commandLine(argv: string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

function BytesText({ of }: { of: Bytes }) {
  return typeof of === "string" ? <pre>{of}</pre> : <pre class="faint">{of.base64}<br />(binary data, in base64)</pre>;
}

const BlobLink = ({ hash, name }: { hash: string; name?: string | undefined }) => (
  <Download href={urlOf(`/blobs/${hash}`)} name={name ?? hash} class="mono" title={hash}>{hash.slice(0, 12)}…</Download>
);

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="run-part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Request({ of }: { of: Schemas["http"] }) {
  return (
    <>
      <pre>{of.method ?? "GET"} {of.url}{Object.entries(of.headers ?? {}).map(([name, value]) => `\n${name}: ${value}`)}</pre>
      {of.body !== undefined ? <BytesText of={of.body} /> : null}
    </>
  );
}

function Step({ of }: { of: Schemas["step"] }) {
  return (
    <>
      {of.shell ? <pre>{of.shell}</pre> : null}
      {of.argv ? <pre>{commandLine(of.argv)}</pre> : null}
      {of.http?.map((request, at) => <Request key={at} of={request} />)}
      <Facts of={[["until", of.until && <code>{of.until}</code>], ["failed if", of.failed && <code>{of.failed}</code>]]} />
    </>
  );
}

function sandboxText(run: Run): string | undefined {
  const bits = run.sandbox ?? 0;
  if (bits === 0) return undefined;
  const parts = ["no privileges, no dangerous system calls"];
  if (bits & 2) parts.push("no network");
  if (bits & 4) parts.push("no files but the system's and its own");
  return parts.join("; ");
}

function Bounds({ run }: { run: Run }) {
  const limits = run.limits ?? {};
  return (
    <Facts
      of={[
        ["memory", limits.memory_bytes && bytesText(limits.memory_bytes)],
        ["CPU", limits.cpu_milli && `${limits.cpu_milli / 1000} cores`],
        ["processes", limits.pids],
        ["open files", limits.open_files],
        ["file size", limits.file_bytes && bytesText(limits.file_bytes)],
        ["log", run.log_bytes_max && `${bytesText(run.log_bytes_max)} are kept`],
        ["end", run.kill_grace_ms && `TERM, then KILL after ${durationText(run.kill_grace_ms)}`],
        ["sandbox", sandboxText(run)],
        ["may read", run.sandbox_read && <Tags of={run.sandbox_read} />],
        ["may write", run.sandbox_write && <Tags of={run.sandbox_write} />],
      ]}
    />
  );
}

const hasBounds = (run: Run) => Boolean(run.limits ?? run.sandbox ?? run.log_bytes_max ?? run.kill_grace_ms);

function Files({ run }: { run: Run }) {
  return (
    <Facts
      of={[
        ...(run.files ?? []).map((file): [string, ComponentChildren] => [
          file.path ?? "", <>{file.hash ? <BlobLink hash={file.hash} name={file.path?.split("/").at(-1)} /> : null}{file.executable ? " executable" : ""}</>,
        ]),
        ...(run.inputs ?? []).map((take): [string, ComponentChildren] => [take.path ?? "", `${take.name} of ${take.job}`]),
      ]}
    />
  );
}

function What({ run }: { run: Run }) {
  return (
    <>
      {run.message ? <Part title="Asks"><p class="run-message">{run.message}</p></Part> : null}
      {run.shell ? <Part title="Shell"><pre>{run.shell}</pre></Part> : null}
      {run.argv ? <Part title="Command"><pre>{commandLine(run.argv)}</pre></Part> : null}
      {run.script !== undefined ? <Part title={`Script ${run.script_name ?? ""}`}><BytesText of={run.script} /></Part> : null}
      {run.script_hash ? (
        <Part title={run.is_archive ? "Archive" : "Script"}><BlobLink hash={run.script_hash} name={run.script_name} /> {run.entry ? <code>{run.entry}</code> : null}</Part>
      ) : null}
      {run.http?.map((request, at) => <Part key={at} title="Request"><Request of={request} /></Part>)}
      {run.submit?.map((step, at) => <Part key={at} title="Begins by"><Step of={step} /></Part>)}
      {run.poll?.map((step, at) => <Part key={at} title="Asks about it by"><Step of={step} /></Part>)}
      {run.sleep_ms ? <Part title="Sleeps"><p>{durationText(run.sleep_ms)}</p></Part> : null}
    </>
  );
}

export function RunView({ run, hash }: { run: Run; hash?: string | undefined }) {
  const env = Object.entries(run.env ?? {});
  return (
    <div class="run">
      <What run={run} />
      {run.when ? <Part title="When"><pre>{run.when}</pre></Part> : null}
      {run.foreach ? <Part title="For each"><pre>{run.foreach}</pre></Part> : null}
      {run.stdin_text !== undefined ? <Part title="Standard input"><BytesText of={run.stdin_text} /></Part> : null}
      {run.stdin_hash ? <Part title="Standard input"><BlobLink hash={run.stdin_hash} /></Part> : null}
      {env.length > 0 ? <Part title="Environment"><pre>{env.map(([name, value]) => `${name}=${value}`).join("\n")}</pre></Part> : null}
      {run.files || run.inputs ? <Part title="Files"><Files run={run} /></Part> : null}
      {run.workdir || run.dir ? <Part title="Directory"><code>{run.workdir ?? run.dir}</code></Part> : null}
      {hasBounds(run) ? <Part title="Bounds"><Bounds run={run} /></Part> : null}
      {run.labels ? <Part title="Labels"><Tags of={run.labels} /></Part> : null}
      {hash ? <Part title="Hash"><Copied text={hash} /></Part> : null}
      <details class="run-exact">
        <summary>The exact spec</summary>
        <pre>{prettyJson(run)}</pre>
      </details>
    </div>
  );
}
