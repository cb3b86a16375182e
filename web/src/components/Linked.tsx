import { Link } from 'wouter';
import { linkedPieces } from '../lib/linked';

// A sentence of the server, whose jobs and nodes are links.
export function Linked({ text, nodes }: { text: string; nodes: ReadonlySet<string> }) {
  return (
    <bdi>
      {linkedPieces(text, nodes).map((piece, i) => (piece.href === '' ? piece.text : <Link key={i} href={piece.href}>{piece.text}</Link>))}
    </bdi>
  );
}
