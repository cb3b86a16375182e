import { readFileSync } from 'node:fs';

// Instructions out of a tutorial in Markdown. Each list item of a step holds sentences like these:
//   Go to **Submit**. Type `train` into **Name** and choose `low` in **Priority**. Wait for **running**.
// A word in bold names what is on the screen, and the verb before it says what to do with it; a verb goes
// on for the words after it ("See **a**, and **b**"). Bold without a verb is a mistake of the tutorial.
type Verb = 'open-address' | 'go' | 'open' | 'press' | 'type' | 'choose' | 'see' | 'row';
export interface Act {
  verb: Verb;
  name: string;
  value: string; // what is typed or chosen; of a row: what has to stand in it
  sentence: string;
}
export interface Step {
  title: string;
  acts: Act[];
}

const verbs: [RegExp, Verb][] = [
  [/\bgo to\b/i, 'go'],
  [/\bopen the address\b/i, 'open-address'],
  [/\bopen\b/i, 'open'],
  [/\bpress\b/i, 'press'],
  [/\btype\b/i, 'type'],
  [/\bchoose\b/i, 'choose'],
  [/\bin the row of\b/i, 'row'],
  [/\b(see|wait for|under|beside|an empty)\b/i, 'see'],
];

export function readGuide(path: string): Step[] {
  const steps: Step[] = [];
  for (const part of readFileSync(path, 'utf8').split(/^## /m).slice(1)) {
    const [title = '', ...lines] = part.split('\n');
    const items = lines.join('\n').split(/^- /m).slice(1).map((item) => item.split(/\n\s*\n/)[0]!.replaceAll(/\s+/g, ' ').trim());
    steps.push({ title: title.trim(), acts: items.flatMap(readItem) });
  }
  return steps;
}

// The last verb before a name, and the last value between the two.
export function readItem(item: string): Act[] {
  const acts: Act[] = [];
  let verb: Verb | null = null;
  let value = '';
  for (const [piece] of item.matchAll(/\*\*[^*]+\*\*|`[^`]+`|[^*`]+/g)) {
    if (piece.startsWith('`')) value = piece.slice(1, -1);
    else if (!piece.startsWith('**')) {
      const found = lastVerb(piece);
      if (found === 'open-address') acts.push({ verb: found, name: '', value: '', sentence: item });
      // A new sentence or a colon takes no verb with it.
      if (found) verb = found;
      else if (/[.:](\s|$)/.test(piece)) verb = null;
    } else {
      const name = piece.slice(2, -2);
      if (verb === null) throw new Error(`nothing says what to do with ${piece} in: ${item}`);
      // "See **suspended** in the row of **train**" is one look, at that row.
      const inRow = verb === 'row' ? (acts.pop()?.name ?? '') : null;
      acts.push({ verb, name, value: inRow ?? value, sentence: item });
      value = '';
    }
  }
  return acts;
}

function lastVerb(text: string): Verb | null {
  let best: Verb | null = null;
  let at = -1;
  for (const [pattern, verb] of verbs) {
    for (const match of text.matchAll(new RegExp(pattern, 'gi'))) {
      if (match.index > at) [best, at] = [verb, match.index];
    }
  }
  return best;
}
