// Jobs and nodes that a sentence of the server names, as links. Pure.

interface Piece {
  text: string;
  href: string; // '' = no link
}

// `nodes`: the names that may be meant; any other word is a word.
export function linkedPieces(text: string, nodes: ReadonlySet<string>): Piece[] {
  const pieces: Piece[] = [];
  const add = (part: string, href: string): void => {
    const last = pieces.at(-1);
    if (href === '' && last?.href === '') last.text += part;
    else if (part !== '') pieces.push({ text: part, href });
  };
  // "job 7", "job/7", or a word as names of nodes are; a full stop behind it is none of its letters.
  for (const part of text.split(/(\bjob[ /]\d+\b|[\w-]+(?:\.[\w-]+)*)/)) {
    const job = /^job[ /](\d+)$/.exec(part)?.[1];
    add(part, job !== undefined ? `/jobs/${job}` : nodes.has(part) ? `/nodes/${encodeURIComponent(part)}` : '');
  }
  return pieces;
}
