import { type CsvColumn, csvOf } from '../lib/csv';
import { saveBlob } from '../lib/saveChart';

// What a chart shows, as a file: `name` is the file's, `title` the chart's.
export function SaveCsv({ name, title, times, columns }: { name: string; title: string; times: readonly number[]; columns: readonly CsvColumn[] }) {
  return (
    <button className="button quiet small" aria-label={`save ${title} as CSV`} onClick={() => saveBlob(new Blob([csvOf(times, columns)], { type: 'text/csv' }), `${name}.csv`)}>
      CSV
    </button>
  );
}
