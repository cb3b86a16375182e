import { Fragment } from 'react';
import { formatHosts } from '../lib/format';

// node-[1-3],other-9: breaks between hosts, never within one.
export function Hosts({ names }: { names: readonly string[] }) {
  const parts = formatHosts(names).split(/(?<=,)(?![^[]*\])/);
  return (
    <>
      {parts.map((part) => (
        <Fragment key={part}>
          <span className={part.length > 40 ? '' : 'whole'}>{part}</span>
          <wbr />
        </Fragment>
      ))}
    </>
  );
}
