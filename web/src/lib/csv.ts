const field = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

export interface CsvColumn {
  label: string;
  values: readonly (number | null | undefined)[];
}

// For a spreadsheet: one row per time (milliseconds); what is not known is an empty field.
export function csvOf(times: readonly number[], columns: readonly CsvColumn[]): string {
  const rows = [['time', ...columns.map(({ label }) => label)]];
  times.forEach((time, i) => rows.push([new Date(time).toISOString(), ...columns.map(({ values }) => (values[i] == null ? '' : String(Math.round(values[i] * 1000) / 1000)))]));
  return `${rows.map((row) => row.map(field).join(',')).join('\r\n')}\r\n`;
}
