// A chart as a file: what the page draws, with its colours written out, so that it looks the same elsewhere.

const pngScale = 2;
const letterWidth = 7.5; // of the head, in bold

export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// Custom properties mean nothing outside of the page.
function withColors(text: string, style: CSSStyleDeclaration): string {
  const probe = document.createElement('span');
  document.body.append(probe);
  const written = text.replaceAll(/var\((--[\w-]+)\)/g, (_, name: string) => {
    if (style.getPropertyValue(name) === '') return 'currentColor';
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return written;
}

// With what the chart says of itself, where that fits.
function headOf(svg: SVGSVGElement, title: string, width: number): string {
  const whole = `${title}: ${(svg.getAttribute('aria-label') ?? '').replace(`${title}: `, '')}`;
  return whole.length * letterWidth <= width ? whole : title;
}

export function svgText(svg: SVGSVGElement, title: string): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  for (const each of copy.querySelectorAll('[data-only-screen]')) each.remove();
  const { width, height } = svg.viewBox.baseVal;
  const head = 24;
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('viewBox', `0 ${-head} ${width} ${height + head}`);
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height + head));
  copy.setAttribute('font-family', 'sans-serif');
  // What the page's styles say of its letters.
  for (const each of copy.querySelectorAll('text:not([fill])')) {
    each.setAttribute('fill', 'var(--ink-3)');
    each.setAttribute('font-size', '11');
  }
  const make = (name: string, values: Record<string, string>, text = ''): Element => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(values)) element.setAttribute(key, value);
    element.textContent = text;
    return element;
  };
  copy.prepend(
    make('rect', { x: '0', y: String(-head), width: String(width), height: String(height + head), fill: 'var(--surface)' }),
    make('text', { x: '8', y: '-8', fill: 'var(--ink)', 'font-size': '13', 'font-weight': '600' }, headOf(svg, title, width)),
  );
  return new XMLSerializer().serializeToString(copy);
}

// `text`: of an SVG whose colours may be the page's custom properties.
export const colored = (text: string): string => withColors(text, getComputedStyle(document.documentElement));

export async function toPng(text: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.width * pngScale;
  canvas.height = image.height * pngScale;
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the browser made no picture'))), 'image/png'));
}
