// Whether anybody can see this page: a browser tab in the background is hidden.
export const isVisible = (): boolean => globalThis.document?.visibilityState !== 'hidden';

export function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const check = (): void => {
      if (!isVisible() && !signal.aborted) return;
      document.removeEventListener('visibilitychange', check);
      signal.removeEventListener('abort', check);
      resolve();
    };
    document.addEventListener('visibilitychange', check);
    signal.addEventListener('abort', check);
    check();
  });
}
