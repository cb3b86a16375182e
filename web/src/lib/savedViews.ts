// Named filters of the jobs page: a name and what stands behind the question mark.
export interface SavedView {
  name: string;
  search: string;
}
const key = 'hai.views';

export const builtInViews: SavedView[] = [
  { name: 'Unfinished', search: '' },
  { name: 'Running', search: 'state=running' },
  { name: 'Waiting', search: 'state=queued&state=suspended' },
  { name: 'Failed', search: 'state=failed' },
  { name: 'Everything', search: 'state=all' },
  { name: 'By user', search: 'by=user' },
];

export function readViews(): SavedView[] {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '[]') as SavedView[];
  } catch {
    return [];
  }
}

export function writeViews(views: readonly SavedView[]): void {
  localStorage.setItem(key, JSON.stringify(views));
}
