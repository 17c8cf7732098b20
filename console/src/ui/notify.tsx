// Notifications of the browser, for who has asked for them: a flow that failed, a job that waits for a decision. Off until
// someone turns them on, and kept per browser.
import { useEffect, useState } from "preact/hooks";

import { get, type Schemas } from "../api/client";
import { stream, type StreamEvent } from "../api/events";
import { flowPath, navigate } from "../router";
import { say } from "./toast";

const KEY = "reeve.notify";

const isThere = () => "Notification" in window;
const isWanted = () => isThere() && localStorage.getItem(KEY) === "on" && Notification.permission === "granted";

function tell(title: string, body: string, href: string): void {
  const shown = new Notification(title, { body, tag: href });
  shown.onclick = () => {
    window.focus();
    navigate(href);
  };
}

/** Not every held job waits for a person: what does is in the list of questions. */
async function tellQuestion(job: string): Promise<void> {
  const { questions = [] } = await get<Schemas["listed"]>("/questions", { most: 500 });
  const question = questions.find((each) => each.job === job);
  if (question !== undefined) tell("Waits for a decision", `${job}: ${question.body?.message ?? "may it run?"}`, `/approvals?job=${encodeURIComponent(job)}`);
}

async function tellFailure(flow: string): Promise<void> {
  const { flow: view } = await get<Schemas["got"]>(`/flows/${encodeURIComponent(flow)}`);
  tell("Flow failed", `${view?.name ?? ""} ${flow}`.trim(), flowPath(flow));
}

function hear(event: StreamEvent): void {
  if (!isWanted()) return;
  const quiet = () => undefined; // it could not be asked for: the page shows it all the same
  if (event.type === "job" && event.to === "held") tellQuestion(event.target).catch(quiet);
  if (event.type === "flow" && event.to === "failed") tellFailure(event.target).catch(quiet);
}

export function NotifySwitch() {
  const [on, setOn] = useState(isWanted);
  useEffect(() => stream.listen(hear), []);
  if (!isThere()) return null;
  const toggle = async () => {
    if (on) localStorage.removeItem(KEY);
    else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(KEY, "on");
    else say("the browser does not allow notifications from this page", true);
    setOn(isWanted());
  };
  return (
    <button type="button" class="quiet notify" aria-pressed={on} title="Notify me of failures and open approvals" onClick={() => void toggle()}>
      <span aria-hidden="true">{on ? "●" : "○"}</span> <span>Notify me</span>
    </button>
  );
}
