// Where the services of jobs are for this browser: the port that the server names, at the host whose
// dashboard this is, since the session belongs to that host. '' if there is none.
export function servicesBase(url: string, here: { hostname: string }): string {
  if (url === '' || !URL.canParse(url)) return '';
  const { protocol, port } = new URL(url);
  return `${protocol}//${here.hostname}${port && `:${port}`}`;
}
