import '@fontsource-variable/geist';
import '@fontsource-variable/geist-mono';
import './styles/index.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { ApiError, setTransport } from './api/client';
import { beginSession } from './api/session';
import { App } from './app/App';
import { CodeBoundary } from './components/CodeBoundary';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      // A refusal stays one; only what did not arrive is worth a second try.
      retry: (count, error) => count < 2 && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
    },
  },
});

async function start(): Promise<void> {
  const query = new URLSearchParams(location.search);
  const asked = query.get('demo');
  if (asked !== null) sessionStorage.setItem('hai.demo', asked);
  const isDemo = import.meta.env.VITE_DEMO === '1' || (sessionStorage.getItem('hai.demo') ?? '0') !== '0';
  if (isDemo) {
    const { createDemo } = await import('./demo/transport');
    setTransport(createDemo({ jobs: Number(query.get('jobs') ?? 0) || 10_000 }));
  } else {
    await beginSession();
  }
  createRoot(document.getElementById('root')!).render(
    <QueryClientProvider client={client}>
      <CodeBoundary>
        <App isDemo={isDemo} />
      </CodeBoundary>
    </QueryClientProvider>,
  );
}

void start();
