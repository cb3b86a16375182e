import { type FormEvent, useEffect, useState } from 'react';
import { ApiError } from '../api/client';
import { providerAddress, providerName, signIn } from '../api/session';
import { Failure } from '../components/states';
import { Logo } from './Logo';
import { useTitle } from '../lib/useTitle';

export function Login() {
  useTitle('Sign in');
  const [secret, setSecret] = useState('');
  const [error, setError] = useState<Error | null>(null);
  const [isAsking, setAsking] = useState(false);
  const [provider, setProvider] = useState<string | null>(null);
  useEffect(() => {
    // Without an answer a token will do.
    void providerName().then(setProvider, () => undefined);
  }, []);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setError(null);
    setAsking(true);
    try {
      await signIn(secret.trim());
    } catch (cause) {
      const isUnknown = cause instanceof ApiError && cause.status === 401;
      setError(isUnknown ? new ApiError(401, 'unauthenticated', 'the server does not know this token') : (cause as Error));
    }
    setAsking(false);
  };
  return (
    <main className="login">
      <form className="panel stack" style={{ padding: 'var(--s5)' }} onSubmit={(event) => void submit(event)}>
        <h1 className="brand">
          <Logo /> hai <span className="sr">Sign in</span>
        </h1>
        {provider !== null && (
          <a className="button primary" href={providerAddress()}>
            Sign in with {provider}
          </a>
        )}
        <p className="dim">
          Sign in with a token. <span className="mono whole">hai token create --label dashboard</span> prints one.
        </p>
        <label className="field">
          Token
          <input
            className="input mono"
            type="password"
            autoComplete="current-password"
            autoFocus
            value={secret}
            onChange={(event) => setSecret(event.target.value)}
          />
        </label>
        {error && <Failure error={error} />}
        <button className={provider === null ? 'button primary' : 'button'} disabled={secret.trim() === '' || isAsking}>
          {isAsking ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}

