export function Logo() {
  return (
    <svg viewBox="0 0 18 18" aria-hidden="true">
      <g fill="var(--accent)">
        <rect width="8" height="8" rx="1.5" />
        <rect y="10" width="8" height="8" rx="1.5" />
        <rect x="10" y="10" width="8" height="8" rx="1.5" />
      </g>
      <rect x="10" width="8" height="8" rx="1.5" fill="var(--gpu-draining)" />
    </svg>
  );
}
