import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { parse } from 'yaml';
import { submitJob } from '../api/actions';
import { get } from '../api/client';
import { session } from '../api/session';
import { useJob, useJobSpec, useNodes } from '../api/queries';
import type { Job, JobPage, WhatIf } from '../api/types';
import { Differences } from '../components/Differences';
import { Panel } from '../components/Panel';
import { Empty, Failure, Loading } from '../components/states';
import { toast } from '../components/Toasts';
import { useDraft } from '../lib/draft';
import { editSpec, emptyForm, type JobForm, newSpec, specToRunAgain, treeToForm } from '../lib/jobSpec';
import { useStore } from '../lib/store';
import { useTitle } from '../lib/useTitle';
import { Answer } from './job/WhyCard';
import { SpecForm } from './submit/SpecForm';
import { useValidation, type Validation } from './submit/useValidation';

type Tree = Record<string, unknown>;

export default function SubmitPage() {
  const from = new URLSearchParams(useSearch()).get('from');
  return from ? <Again key={from} id={from} /> : <Editor key="new" start={newSpec(emptyForm)} />;
}

// The job file of another job, with what belonged to that one run left out.
function Again({ id }: { id: string }) {
  const job = useJob(id);
  const spec = useJobSpec(id);
  const error = job.error ?? spec.error;
  if (error) return <Failure error={error} />;
  if (!job.data || spec.data === undefined) return <Loading />;
  return <Editor start={specToRunAgain(spec.data)} from={job.data} />;
}

function readTree(yaml: string): Tree | null {
  try {
    const tree: unknown = parse(yaml);
    return typeof tree === 'object' && tree !== null && !Array.isArray(tree) ? (tree as Tree) : null;
  } catch {
    return null;
  }
}

const words: Record<Validation['state'], string> = { idle: '', asking: 'asking', valid: 'valid', invalid: 'not valid', unknown: 'not judged' };

function Outcome({ answer, isOld = false }: { answer: WhatIf; isOld?: boolean }) {
  return (
    <div className="stack" aria-busy={isOld}>
      {isOld && <p className="note">As the job file was before the last change; asking anew.</p>}
      <p>{answer.change}</p>
      {answer.job && <Answer why={answer.job} />}
      <Differences answer={answer} />
    </div>
  );
}

// Begins with the job file of another job: the person's last one, or one that he names.
function Templates({ me }: { me: string }) {
  const [, go] = useLocation();
  const [name, setName] = useState('');
  const begin = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() !== '') go(`/submit?from=${encodeURIComponent(name.trim())}`);
  };
  const last = async (): Promise<void> => {
    try {
      const { jobs } = await get<JobPage>(`/jobs?finished=true&user=${encodeURIComponent(me)}&limit=1`);
      if (jobs[0]) go(`/submit?from=${jobs[0].id}`);
      else toast('You have not submitted a job yet');
    } catch (error) {
      toast((error as Error).message, 'failed');
    }
  };
  return (
    <>
      <form className="row" onSubmit={begin}>
        <input className="input small" style={{ width: '9rem' }} aria-label="like job" placeholder="like job 7" value={name} onChange={(event) => setName(event.target.value)} />
        <button className="button small">Use</button>
      </form>
      <button className="button small" onClick={() => void last()}>
        Like my last
      </button>
    </>
  );
}

function Editor({ start, from }: { start: string; from?: Job }) {
  const me = useStore(session)?.user ?? '';
  const { text: yaml, write: setYaml, forget, isChanged } = useDraft(`${me}.${from?.id ?? 'new'}`, start);
  const [, go] = useLocation();
  useTitle(from ? `Run ${from.name} again` : 'Submit a job');
  const tree = useMemo(() => readTree(yaml), [yaml]);
  const form = tree ? treeToForm(tree) : null;
  const nodes = useNodes().data ?? [];
  const groups = [...new Set(nodes.map((node) => node.group))].sort();
  const validation = useValidation(yaml, form === null || (form.name !== '' && form.entrypoint !== ''));
  const requestId = useRef(crypto.randomUUID());
  const [error, setError] = useState<Error | null>(null);
  const [isSending, setSending] = useState(false);
  useEffect(() => {
    requestId.current = crypto.randomUUID();
    setError(null);
  }, [yaml]);
  // What nobody could judge may be sent: the server judges it then.
  const maySend = validation.state === 'valid' || validation.state === 'unknown';
  const change = (part: Partial<JobForm>): void => {
    if (tree && form) setYaml(editSpec(yaml, part));
  };
  const submit = async (): Promise<void> => {
    setError(null);
    setSending(true);
    try {
      const job = await submitJob(yaml, requestId.current);
      forget();
      toast(`Job ${job.id} submitted: ${job.name}`);
      go(`/jobs/${job.id}`);
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setSending(false);
    }
  };
  return (
    <>
      <div className="page-head">
        <h1>{from ? `Run ${from.name} again` : 'Submit a job'}</h1>
        <span className="grow" />
        <Templates me={me} />
        {isChanged && (
          <button className="button quiet" onClick={() => setYaml(start)}>
            Start over
          </button>
        )}
        <button className="button primary" disabled={isSending || !maySend} onClick={() => void submit()}>
          {isSending ? 'Submitting…' : 'Submit'}
        </button>
      </div>
      {from && (
        <p className="note" style={{ marginBottom: 'var(--s3)' }}>
          As job {from.id} was submitted, without the jobs and the time it waited for. The environment variables of others are not shown.
        </p>
      )}
      <div className="submit-page">
        <div className="stack">
          <Panel title="Job">{form ? <SpecForm form={form} groups={groups} onChange={change} /> : <Empty title="The YAML on the right can't be read yet" />}</Panel>
          <Panel title="What would happen" aside="asked of the planner, nothing is changed">
            {error && <Failure error={error} />}
            {validation.state === 'idle' && <Empty title="Give it a name and an entrypoint" />}
            {validation.state === 'asking' && (validation.before ? <Outcome answer={validation.before} isOld /> : <Loading />)}
            {validation.state === 'unknown' && (
              <div className="stack">
                <p className="note">Nobody could judge this job file now. It may be submitted; the server judges it then.</p>
                <Failure error={validation.error} onRetry={validation.ask} />
              </div>
            )}
            {validation.state === 'invalid' && <Failure error={validation.error} />}
            {validation.state === 'valid' && <Outcome answer={validation.answer} />}
          </Panel>
        </div>
        <Panel title="Job file" aside={words[validation.state]}>
          <textarea
            className="area mono"
            aria-label="job file (YAML)"
            rows={26}
            spellCheck={false}
            value={yaml}
            onChange={(event) => setYaml(event.target.value)}
          />
        </Panel>
      </div>
    </>
  );
}
