import { Link } from 'wouter';
import text from '../../../docs/operations/runbooks.md?raw';
import { Panel } from '../components/Panel';
import { readPieces, readRunbooks } from '../lib/runbooks';
import { useTitle } from '../lib/useTitle';

const runbooks = readRunbooks(text);

// A link that leaves the runbooks is to another document, which is not here.
function Paragraph({ text: paragraph }: { text: string }) {
  return (
    <p className="prose">
      {readPieces(paragraph).map((piece, i) =>
        piece.kind === 'code' ? (
          <code key={i}>{piece.text}</code>
        ) : piece.kind === 'link' && piece.href.startsWith('#') ? (
          <a key={i} href={piece.href}>{piece.text}</a>
        ) : (
          piece.text
        ),
      )}
    </p>
  );
}

export default function RunbooksPage() {
  useTitle('Runbooks');
  return (
    <>
      <div className="page-head">
        <h1>Runbooks</h1>
        <span className="dim">What an alert or an incident means, what to look at, and what to do.</span>
        <span className="grow" />
        <Link href="/incidents">Incidents</Link>
      </div>
      <div className="stack">
        {runbooks.map(({ name, paragraphs }) => (
          <Panel key={name} id={name} title={name.replaceAll('-', ' ')}>
            <div className="stack">
              {paragraphs.map((paragraph) => (
                <Paragraph key={paragraph} text={paragraph} />
              ))}
            </div>
          </Panel>
        ))}
      </div>
    </>
  );
}
