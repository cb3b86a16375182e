import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { Route, Switch } from 'wouter';
import { isLoginNeeded, token } from '../api/client';
import { startLive } from '../api/live';
import { Loading, Empty } from '../components/states';
import { Toasts } from '../components/Toasts';
import { useStore } from '../lib/store';
import { Overview } from '../pages/Overview';
import { Login } from './Login';
import { Shell } from './Shell';

const MapPage = lazy(() => import('../pages/MapPage'));
const JobsPage = lazy(() => import('../pages/JobsPage'));
const JobPage = lazy(() => import('../pages/JobPage'));
const NodesPage = lazy(() => import('../pages/NodesPage'));
const NodePage = lazy(() => import('../pages/NodePage'));
const IncidentsPage = lazy(() => import('../pages/IncidentsPage'));
const QuotasPage = lazy(() => import('../pages/QuotasPage'));
const SubmitPage = lazy(() => import('../pages/SubmitPage'));

export function App({ isDemo }: { isDemo: boolean }) {
  const client = useQueryClient();
  const secret = useStore(token);
  const needsLogin = useStore(isLoginNeeded);
  const lastSecret = useRef(secret);
  useEffect(() => {
    if (needsLogin) return;
    // Another token may see other jobs: nothing of the last one's stays.
    if (lastSecret.current !== secret) void client.resetQueries();
    lastSecret.current = secret;
    return startLive(client);
  }, [client, secret, needsLogin]);

  if (needsLogin) return <Login />;
  return (
    <Shell isDemo={isDemo}>
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
      <Toasts />
    </Shell>
  );
}
