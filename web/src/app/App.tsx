import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useEffect, useRef, useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { isLoginNeeded } from '../api/client';
import { startLive } from '../api/live';
import { startPulse } from '../api/pulse';
import { useWhoAmI } from '../api/queries';
import { session } from '../api/session';
import { CodeBoundary, part } from '../components/CodeBoundary';
import { Loading, Empty } from '../components/states';
import { Toasts } from '../components/Toasts';
import { useStore } from '../lib/store';
import { useZone } from '../lib/zone';
import { Overview } from '../pages/Overview';
import { Login } from './Login';
import { Shell } from './Shell';

const MapPage = part(() => import('../pages/MapPage'));
const JobsPage = part(() => import('../pages/JobsPage'));
const JobPage = part(() => import('../pages/JobPage'));
const ShellPage = part(() => import('../pages/ShellPage'));
const NodesPage = part(() => import('../pages/NodesPage'));
const NodePage = part(() => import('../pages/NodePage'));
const IncidentsPage = part(() => import('../pages/IncidentsPage'));
const RunbooksPage = part(() => import('../pages/RunbooksPage'));
const QuotasPage = part(() => import('../pages/QuotasPage'));
const NowPage = part(() => import('../pages/NowPage'));
const SubmitPage = part(() => import('../pages/SubmitPage'));
const QueuePage = part(() => import('../pages/QueuePage'));
const MinePage = part(() => import('../pages/MinePage'));
const HistoryPage = part(() => import('../pages/HistoryPage'));
const ComparePage = part(() => import('../pages/ComparePage'));
const AccountPage = part(() => import('../pages/AccountPage'));
const KnobsPage = part(() => import('../pages/KnobsPage'));

export function App({ isDemo }: { isDemo: boolean }) {
  const client = useQueryClient();
  const user = useStore(session)?.user ?? '';
  const needsLogin = useStore(isLoginNeeded);
  const [path] = useLocation();
  const zone = useZone(); // shown times are made anew
  const lastUser = useRef(user);
  useEffect(() => {
    if (needsLogin) return;
    // Another user may see other jobs: nothing of the last one's stays.
    if (lastUser.current !== user) void client.resetQueries();
    lastUser.current = user;
    const stops = [startPulse(client), startLive(client, isDemo ? null : `hai.events.1.${user}`)];
    return () => stops.forEach((stop) => stop());
  }, [client, user, needsLogin, isDemo]);

  if (needsLogin) return <Login />;
  // Without the frame: one screen, readable from across the room.
  if (path === '/now' || path === '/wall') {
    return (
      <CodeBoundary key={`${path} ${zone}`}>
        <Suspense fallback={<Loading lines={6} />}>
          <NowPage isDemo={isDemo} />
        </Suspense>
      </CodeBoundary>
    );
  }
  return (
    <Shell isDemo={isDemo}>
      <CodeBoundary key={`${path} ${zone}`}>
        <Suspense fallback={<Loading lines={6} />}>
          <Switch>
            <Route path="/" component={Landing} />
            <Route path="/map" component={MapPage} />
            <Route path="/jobs" component={JobsPage} />
            <Route path="/jobs/:id">{({ id }) => <JobPage key={id} id={decodeURIComponent(id)} />}</Route>
            <Route path="/jobs/:id/shell">{({ id }) => <ShellPage key={id} id={decodeURIComponent(id)} />}</Route>
            <Route path="/nodes" component={NodesPage} />
            <Route path="/nodes/:name">{({ name }) => <NodePage key={name} name={decodeURIComponent(name)} />}</Route>
            <Route path="/incidents" component={IncidentsPage} />
            <Route path="/runbooks" component={RunbooksPage} />
            <Route path="/quotas" component={QuotasPage} />
            <Route path="/submit" component={SubmitPage} />
            <Route path="/queue" component={QueuePage} />
            <Route path="/mine" component={MinePage} />
            <Route path="/history" component={HistoryPage} />
            <Route path="/compare" component={ComparePage} />
            <Route path="/account" component={AccountPage} />
            <Route path="/knobs" component={KnobsPage} />
            <Route>
              <h1 className="sr">Not found</h1>
              <Empty title="There is no such page"><Link className="button" href="/">Overview</Link></Empty>
            </Route>
          </Switch>
        </Suspense>
      </CodeBoundary>
      <Toasts />
    </Shell>
  );
}

const landedKey = 'hai.landed';

// Whoever looks after no nodes comes for his own jobs: the first page of a tab shows him those, unless a link led him here.
function Landing() {
  const role = useWhoAmI().data?.role;
  const [isFirst] = useState(() => sessionStorage.getItem(landedKey) === null && location.search === '');
  useEffect(() => {
    if (role !== undefined) sessionStorage.setItem(landedKey, 'yes');
  }, [role]);
  return role === 'user' && isFirst ? <Redirect to="/mine" replace /> : <Overview />;
}
