import { useRef } from 'react';
import { Menu } from './Menu';
import { toast } from './Toasts';

// Loaded when somebody saves.
const loadTools = async () => {
  const [csv, file, save] = await Promise.all([import('../lib/csv'), import('../lib/chartFile'), import('../lib/saveChart')]);
  return { ...csv, ...file, ...save };
};
export type ChartTools = Awaited<ReturnType<typeof loadTools>>;

interface Props {
  name: string; // of the file
  title: string; // of the chart
  csv: (tools: ChartTools) => string;
  svg: (tools: ChartTools, here: Element) => string; // `here`: the button's place on the page
}

const forms = ['csv', 'svg', 'png'] as const;

// What a chart shows, as a file.
export function SaveChart({ name, title, csv, svg }: Props) {
  const here = useRef<HTMLSpanElement>(null);
  const save = async (form: (typeof forms)[number]): Promise<void> => {
    try {
      const tools = await loadTools();
      const blob = async (): Promise<Blob> => {
        if (form === 'csv') return new Blob([csv(tools)], { type: 'text/csv' });
        const text = tools.colored(svg(tools, here.current!));
        return form === 'svg' ? new Blob([text], { type: 'image/svg+xml' }) : tools.toPng(text);
      };
      tools.saveBlob(await blob(), `${name}.${form}`);
    } catch (error) {
      toast(`${title} was not saved: ${(error as Error).message}`, 'failed');
    }
  };
  return (
    <span ref={here}>
      <Menu
        trigger={<button className="button quiet small" aria-label={`save ${title}`}>save</button>}
        items={forms.map((form) => ({ label: form.toUpperCase(), onSelect: () => void save(form) }))}
      />
    </span>
  );
}
