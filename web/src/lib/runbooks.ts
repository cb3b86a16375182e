// The runbooks of docs/operations, which the dashboard carries with it: whoever is woken has no checkout at
// hand. Only as much of Markdown as they use. Pure.

export interface Runbook {
  name: string; // what an address leads to with #
  paragraphs: string[];
}

// Those before the first heading of a section are of none.
export function readRunbooks(markdown: string): Runbook[] {
  return markdown.split(/^## /m).slice(1).map((section) => {
    const [name = '', ...lines] = section.split('\n');
    const paragraphs = lines.join('\n').split(/\n\s*\n/).map((each) => each.trim().replaceAll(/\s*\n\s*/g, ' '));
    return { name: name.trim(), paragraphs: paragraphs.filter((each) => each !== '') };
  });
}

export interface Piece {
  kind: 'text' | 'code' | 'link';
  text: string;
  href: string; // of a link
}

// A paragraph as text, `code` and [links](#section).
export function readPieces(paragraph: string): Piece[] {
  return paragraph.split(/(`[^`]+`|\[[^\]]+\]\([^)]+\))/).filter((each) => each !== '').map((part): Piece => {
    const link = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(part);
    if (link) return { kind: 'link', text: link[1]!, href: link[2]! };
    return part.startsWith('`') ? { kind: 'code', text: part.slice(1, -1), href: '' } : { kind: 'text', text: part, href: '' };
  });
}

const sections: Record<string, string> = { store_unavailable: 'store-unavailable', store_went_back: 'store-unavailable' };

// Where the next step about an incident of a kind is written.
export const runbookOf = (kind: string): string => sections[kind] ?? 'incident-open';
