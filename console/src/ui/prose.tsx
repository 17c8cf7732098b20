// Text of the guide in the console.

/** Backticks of a description as code; the places of the guide that it points to are not here. */
export function Prose({ text }: { text: string }) {
  const parts = text.replace(/ \((above|below)\)/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").split("`");
  return <>{parts.map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>;
}
