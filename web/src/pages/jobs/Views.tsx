import { useState } from 'react';
import { Menu } from '../../components/Menu';
import { builtInViews, readViews, type SavedView, writeViews } from '../../lib/savedViews';

export function Views({ search, onPick }: { search: string; onPick: (search: string) => void }) {
  const [saved, setSaved] = useState(readViews);
  const keep = (views: SavedView[]): void => {
    writeViews(views);
    setSaved(views);
  };
  const current = [...builtInViews, ...saved].find((view) => view.search === search);
  const save = (): void => {
    const name = window.prompt('Name of this view')?.trim();
    if (name) keep([...saved.filter((view) => view.name !== name), { name, search }]);
  };
  return (
    <Menu
      trigger={<button className="button">{current?.name ?? 'Own filter'} ▾</button>}
      items={[
        ...builtInViews.map((view) => ({ label: view.name, onSelect: () => onPick(view.search) })),
        saved.length > 0 ? null : undefined,
        ...saved.map((view) => ({ label: view.name, onSelect: () => onPick(view.search) })),
        null,
        current ? undefined : { label: 'Save this view…', onSelect: save },
        saved.some((view) => view === current)
          ? { label: `Forget ${current!.name}`, onSelect: () => keep(saved.filter((view) => view !== current)) }
          : undefined,
        { label: 'Copy the address', onSelect: () => void navigator.clipboard?.writeText(location.href) },
      ].filter((item) => item !== undefined)}
    />
  );
}
