const field = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const lines = (rows: readonly string[][]): string => `${rows.map((row) => row.map(field).join(',')).join('\r\n')}\r\n`;

// What people have named may look like a formula, which a spreadsheet would work out.
const plain = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

// Rows of words and numbers, the first of them what they are; an empty field is not known.
export const csvRows = (rows: readonly (readonly (string | number | null)[])[]): string =>
  lines(rows.map((row) => row.map((each) => (each === null ? '' : typeof each === 'number' ? String(each) : plain(each)))));

export interface CsvColumn {
  label: string;
  values: readonly (number | null | undefined)[];
}

// For a spreadsheet: one row per time (milliseconds); what is not known is an empty field.
export function csvOf(times: readonly number[], columns: readonly CsvColumn[]): string {
  const rows = [['time', ...columns.map(({ label }) => label)]];
  times.forEach((time, i) => rows.push([new Date(time).toISOString(), ...columns.map(({ values }) => (values[i] == null ? '' : String(Math.round(values[i] * 1000) / 1000)))]));
  return lines(rows);
}
