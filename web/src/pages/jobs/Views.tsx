import { type FormEvent, useState } from 'react';
import { Dialog } from '../../components/Dialog';
import { Menu } from '../../components/Menu';
import { builtInViews, readViews, type SavedView, writeViews } from '../../lib/savedViews';

export function Views({ search, onPick }: { search: string; onPick: (search: string) => void }) {
  const [saved, setSaved] = useState(readViews);
  const keep = (views: SavedView[]): void => {
    writeViews(views);
    setSaved(views);
  };
  const current = [...builtInViews, ...saved].find((view) => view.search === search);
  const [isNaming, setNaming] = useState(false);
  const [name, setName] = useState('');
  const save = (event: FormEvent): void => {
    event.preventDefault();
    setNaming(false);
    keep([...saved.filter((view) => view.name !== name.trim()), { name: name.trim(), search }]);
    setName('');
  };
  const naming = (
    <Dialog title="Save this view" isOpen={isNaming} onClose={() => setNaming(false)}>
      <form className="stack" onSubmit={save}>
        <label className="field">
          Name (kept in this browser)
          <input className="input" value={name} required pattern=".*\S.*" maxLength={60} autoFocus onChange={(event) => setName(event.target.value)} />
        </label>
        <footer>
          <button type="button" className="button quiet" onClick={() => setNaming(false)}>
            Cancel
          </button>
          <button className="button primary">Save</button>
        </footer>
      </form>
    </Dialog>
  );
  return (
    <>
      {naming}
      <Menu
        trigger={<button className="button">{current?.name ?? 'Own filter'} ▾</button>}
        items={[
          ...builtInViews.map((view) => ({ label: view.name, onSelect: () => onPick(view.search) })),
          saved.length > 0 ? null : undefined,
          ...saved.map((view) => ({ label: view.name, onSelect: () => onPick(view.search) })),
          null,
          current ? undefined : { label: 'Save this view…', onSelect: () => setNaming(true) },
          saved.some((view) => view === current)
            ? { label: `Forget ${current!.name}`, onSelect: () => keep(saved.filter((view) => view !== current)) }
            : undefined,
          { label: 'Copy the address', onSelect: () => void navigator.clipboard?.writeText(location.href) },
        ].filter((item) => item !== undefined)}
      />
    </>
  );
}
