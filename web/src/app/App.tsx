import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useEffect, useRef } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { isLoginNeeded } from '../api/client';
import { startLive } from '../api/live';
import { startPulse } from '../api/pulse';
import { session } from '../api/session';
import { CodeBoundary, part } from '../components/CodeBoundary';
import { Loading, Empty } from '../components/states';
import { Toasts } from '../components/Toasts';
import { useStore } from '../lib/store';
import { Overview } from '../pages/Overview';
import { Login } from './Login';
import { Shell } from './Shell';

const MapPage = part(() => import('../pages/MapPage'));
const JobsPage = part(() => import('../pages/JobsPage'));
const JobPage = part(() => import('../pages/JobPage'));
const NodesPage = part(() => import('../pages/NodesPage'));
const NodePage = part(() => import('../pages/NodePage'));
const IncidentsPage = part(() => import('../pages/IncidentsPage'));
const QuotasPage = part(() => import('../pages/QuotasPage'));
const NowPage = part(() => import('../pages/NowPage'));
const SubmitPage = part(() => import('../pages/SubmitPage'));

export function App({ isDemo }: { isDemo: boolean }) {
  const client = useQueryClient();
  const user = useStore(session)?.user ?? '';
  const needsLogin = useStore(isLoginNeeded);
  const [path] = useLocation();
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
      <CodeBoundary key={path}>
        <Suspense fallback={<Loading lines={6} />}>
          <NowPage isDemo={isDemo} />
        </Suspense>
      </CodeBoundary>
    );
  }
  return (
    <Shell isDemo={isDemo}>
      <CodeBoundary key={path}>
        <Suspense fallback={<Loading lines={6} />}>
          <Switch>
            <Route path="/" component={Overview} />
            <Route path="/map" component={MapPage} />
            <Route path="/jobs" component={JobsPage} />
            <Route path="/jobs/:id">{({ id }) => <JobPage key={id} id={decodeURIComponent(id)} />}</Route>
            <Route path="/nodes" component={NodesPage} />
            <Route path="/nodes/:name">{({ name }) => <NodePage key={name} name={decodeURIComponent(name)} />}</Route>
            <Route path="/incidents" component={IncidentsPage} />
            <Route path="/quotas" component={QuotasPage} />
            <Route path="/submit" component={SubmitPage} />
            <Route>
              <h1 className="sr">Not found</h1>
              <Empty title="There is no such page" />
            </Route>
          </Switch>
        </Suspense>
      </CodeBoundary>
      <Toasts />
    </Shell>
  );
}
