// What the keyboard can do, by `?`.
import { Dialog } from "./parts";
import "./search.css";

const graph: [string[], string][] = [
  [["←", "→", "↑", "↓"], "from job to job"],
  [["Enter"], "open the chosen job"],
  [["Space"], "unfold or fold the items of a foreach job"],
  [["+", "−", "0"], "zoom in, out, fit"],
  [["Shift", "←"], "move the view"],
];

export function KeysDialog({ pages, onClose }: { pages: { key: string; label: string }[]; onClose: () => void }) {
  const row = (keys: string[], text: string) => (
    <>
      <dt>{keys.map((key) => <kbd key={key}>{key}</kbd>)}</dt>
      <dd>{text}</dd>
    </>
  );
  return (
    <Dialog title="Keys" open onClose={onClose}>
      <dl class="keys">
        {row(["/"], "search everything (also Ctrl K)")}
        {row(["?"], "this list")}
        {pages.map((page) => row(["g", page.key], page.label))}
      </dl>
      <h3>In the graph of a flow</h3>
      <dl class="keys">{graph.map(([keys, text]) => row(keys, text))}</dl>
    </Dialog>
  );
}
