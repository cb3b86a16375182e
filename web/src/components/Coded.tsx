// A text of the server in which what is to be typed stands between `backticks`.
export function Coded({ text }: { text: string }) {
  return <bdi>{text.split(/`([^`]+)`/).map((part, i) => (i % 2 === 0 ? part : <span key={i} className="mono">{part}</span>))}</bdi>;
}
