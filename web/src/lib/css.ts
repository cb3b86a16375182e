// A canvas knows no custom properties: the colour that `name` has now, in the present theme.
export function cssColor(name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}
