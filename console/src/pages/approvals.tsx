// What waits for a person. The decision is bound to what the page showed: the hash of it goes with the verdict, and the
// server refuses one about something else. What is shown changes only when the person chooses: a question that was
// answered stays, with its outcome, and buttons that have just appeared take no click yet.
import { useEffect, useRef, useState } from "preact/hooks";

import type { PageProps } from "../app";
import { ApiError, pathOf, post, type JobView, type QuestionView, type Schemas } from "../api/client";
import { useGet } from "../api/hooks";
import { textOf, usePages } from "../api/pages";
import { may, sessionNow } from "../api/session";
import { Link } from "../router";
import { Ago, Empty, FlowLink, JobLink, Loading, Page, Person, Problem, StateBadge } from "../ui/parts";
import { RunView } from "../ui/run";
import { Parents } from "./approvals/parents";
import { Copied, Countdown, Facts } from "../ui/show";
import { say } from "../ui/toast";
import "./approvals/approvals.css";

const flowOf = (question: QuestionView) => question.job?.split("/")[0] ?? "";

/** Who may answer, in a sentence. */
function whoText(question: QuestionView): string {
  const quorum = question.quorum ?? 1;
  const who = question.role ? `with the role ${question.role}` : "with the role approver";
  const people = quorum > 1 ? `${quorum} people ${who}` : `someone ${who}`;
  return question.four_eyes ? `${people}, not who submitted the flow` : people;
}

const ARM_MS = 1000; // a click this soon was meant for what was shown before
const STALE = ["stale", "conflict", "wrong_state", "not_found"];

interface DecisionProps {
  question: QuestionView;
  onStale: (stale: Stale | undefined) => void;
  onDecided: (question: QuestionView, verdict: Verdict) => void;
  reload: () => void;
}

function Decision({ question, onStale, onDecided, reload }: DecisionProps) {
  const [note, setNote] = useState("");
  const [busy, setBusy] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setBusy(false), ARM_MS);
    return () => clearTimeout(timer);
  }, []);
  const decide = async (verdict: Verdict) => {
    setBusy(true);
    onStale(undefined);
    const body = { revision: question.revision, hash: question.hash, verdict, ...(note.trim() === "" ? {} : { reason: note.trim() }) };
    try {
      await post(`/questions/${question.question}/verdict`, body);
      const left = (question.quorum ?? 1) - (question.votes ?? 0) - 1;
      onDecided(question, verdict);
      say(verdict === "reject" ? `${question.job} is rejected` : left > 0 ? `counted; ${left} more must approve` : `${question.job} is approved`);
    } catch (error) {
      if (error instanceof ApiError && STALE.includes(error.code)) onStale({ job: question.job ?? "", text: error.message });
      else say(error instanceof ApiError ? error.message : String(error), true);
    }
    setBusy(false);
    reload();
  };
  if (!may("approver")) return <p class="faint">Only approvers decide; you are {sessionNow().roles.join(", ")}.</p>;
  return (
    <form class="decision" onSubmit={(event) => event.preventDefault()}>
      <label>
        Note, kept with the decision
        <input value={note} onInput={(event) => setNote(event.currentTarget.value)} placeholder="why" />
      </label>
      <div class="row">
        <button type="button" class="primary" disabled={busy} onClick={() => void decide("approve")}>✓ Approve</button>
        <button type="button" class="danger" disabled={busy} onClick={() => void decide("reject")}>✗ Reject</button>
        <span class="faint">for exactly what is shown here</span>
      </div>
    </form>
  );
}

type Verdict = "approve" | "reject";

/** A decision that came too late, or about what is no longer asked. */
interface Stale {
  job: string;
  text: string;
}

function StaleNote({ stale, onClose }: { stale: Stale; onClose: () => void }) {
  return (
    <p class="problem stale" role="alert">
      Your decision on {stale.job} was not taken: {stale.text}. What is shown now is up to date; look at it again.
      <button type="button" class="quiet" aria-label="Dismiss" onClick={onClose}>×</button>
    </p>
  );
}

/** A question that was open when it was chosen. */
function Answered({ question, verdict, next }: { question: QuestionView; verdict: Verdict | undefined; next: QuestionView | undefined }) {
  const target = question.job ?? "";
  const wakes = (event: { type: string; target?: string }) => event.type === "job" && event.target === target;
  const job = useGet<JobView>(`/jobs/${pathOf(target)}`, {}, wakes).data;
  const by = verdict === undefined ? "This was answered by someone else, or is no longer asked." : verdict === "approve" ? "You approved this." : "You rejected this.";
  return (
    <article class="card question" data-answered={question.question}>
      <h2>{question.body?.message ?? `May ${target} run?`}</h2>
      <div class="row" role="status">
        <strong>{by}</strong>
        <JobLink job={target} />
        {job?.state ? <StateBadge state={job.state} cause={job.cause} /> : null}
      </div>
      <div class="row">
        {next === undefined ? <span class="faint">Nothing else waits for a decision.</span> : <Link class="button" href={hrefOf(next)}>Next question</Link>}
      </div>
    </article>
  );
}

function Detail({ question, ...rest }: DecisionProps) {
  const flow = flowOf(question);
  const got = useGet<Schemas["got"]>(`/flows/${pathOf(flow)}`, {});
  const flowView = got.data?.flow;
  return (
    <article class="card question" data-question={question.question}>
      <h2>{question.body?.message ?? `May ${question.job} run?`}</h2>
      <Facts
        of={[
          ["Flow", <FlowLink flow={flow} name={flowView?.name} />],
          ["Job", <JobLink job={question.job ?? ""} />],
          ["Waits for", question.gate],
          ["Who answers", whoText(question)],
          ["Votes", (question.quorum ?? 1) > 1 ? `${question.votes ?? 0} of ${question.quorum}` : undefined],
          ["Submitted by", flowView?.principal && <Person of={flowView.principal} />],
          ["Asked", <Ago ms={question.asked_ms} />],
          ["Deadline", question.deadline_ms ? <>denied <Countdown ms={question.deadline_ms} over="now" /> unless someone decides</> : undefined],
          ["Hash", question.hash && <Copied text={question.hash} />],
        ]}
      />
      <Decision key={`${question.question} ${question.revision} ${question.votes}`} question={question} {...rest} />
      <Parents target={question.job ?? ""} />
      {question.body ? <section><h3>What is decided on</h3><RunView run={question.body} /></section> : null}
    </article>
  );
}

function hrefOf(question: QuestionView): string {
  return `/approvals?job=${encodeURIComponent(question.job ?? "")}`;
}

export default function ApprovalsPage({ place }: PageProps) {
  const pages = usePages<Schemas["listed"], QuestionView>({
    path: "/questions",
    query: { most: 200 },
    rowsOf: (answer) => answer.questions,
    cursorOf: (answer) => textOf(answer.cursor),
    wakes: (event) => event.type === "job" && (event.to === "held" || event.from === "held"),
  });
  const { rows, error, reload, more } = pages;
  const [stale, setStale] = useState<Stale>();
  const [verdicts, setVerdicts] = useState<Record<string, Verdict>>({});
  const chosen = useRef<QuestionView | undefined>(undefined);
  const wanted = place.query.get("job");
  const note = stale === undefined ? null : <StaleNote stale={stale} onClose={() => setStale(undefined)} />;
  if (rows === undefined) return <Page title="Approvals">{error ? <Problem error={error} retry={reload} /> : <Loading />}</Page>;
  const last = wanted === null || chosen.current?.job === wanted ? chosen.current : undefined;
  const open = rows.find((question) => (wanted === null && last !== undefined ? question.question === last.question : question.job === wanted));
  const shown = open ?? (wanted === null && last === undefined ? rows[0] : undefined);
  if (shown !== undefined) chosen.current = shown;
  if (shown === undefined && last === undefined && rows.length === 0)
    return <Page title="Approvals">{note}<Empty>Nothing waits for a decision. A job with a <code>gate</code> asks here before what needs it goes on.</Empty></Page>;
  const onDecided = (question: QuestionView, verdict: Verdict) => setVerdicts((all) => ({ ...all, [String(question.question)]: verdict }));
  return (
    <Page title="Approvals">
      {note}
      <div class="approvals">
        <ul class="question-list" aria-label="Open questions">
          {rows.map((question) => (
            <li key={question.question}>
              <Link href={hrefOf(question)} aria-current={question === shown ? "true" : undefined}>
                <span class="mono">{question.job}</span>
                <span class="question-text">{question.body?.message ?? question.gate}</span>
                <span class="faint"><Ago ms={question.asked_ms} /></span>
              </Link>
            </li>
          ))}
          {more ? <li><button type="button" onClick={more}>More</button></li> : null}
        </ul>
        {shown !== undefined ? (
          <Detail key={shown.question} question={shown} onStale={setStale} onDecided={onDecided} reload={reload} />
        ) : last !== undefined ? (
          <Answered key={last.question} question={last} verdict={verdicts[String(last.question)]} next={rows[0]} />
        ) : (
          <p class="faint">The question of {wanted} is answered, or was never asked. Choose another one from the list.</p>
        )}
      </div>
    </Page>
  );
}
