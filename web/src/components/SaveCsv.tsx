import type { CsvColumn } from '../lib/csv';
import { toast } from './Toasts';

interface Props {
  name: string; // of the file
  title: string; // of the chart
  times: readonly number[];
  columns: readonly CsvColumn[];
}

// Loaded when somebody saves.
async function save({ name, title, times, columns }: Props): Promise<void> {
  try {
    const [{ csvOf }, { saveBlob }] = await Promise.all([import('../lib/csv'), import('../lib/saveChart')]);
    saveBlob(new Blob([csvOf(times, columns)], { type: 'text/csv' }), `${name}.csv`);
  } catch (error) {
    toast(`${title} was not saved: ${(error as Error).message}`, 'failed');
  }
}

// What a chart shows, as a file.
export function SaveCsv(props: Props) {
  return (
    <button className="button quiet small" aria-label={`save ${props.title} as CSV`} onClick={() => void save(props)}>
      CSV
    </button>
  );
}
