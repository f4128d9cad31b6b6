import { useEffect, useState } from 'preact/hooks';
import { type Json, message, post } from '../api';
import { useShared } from '../context';
import type { Kind } from '../discovery';
import { Notice } from '../parts/text';

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const VERSION = 'authorization.k8s.io/v1';

interface Subject {
  user: string;
  groups: string[];
}

interface Answer {
  allowed: boolean;
  reason: string;
}

/** Reviews the access of a user, or of this page's user, to a resource. */
async function review(subject: Subject | undefined, resourceAttributes: Json): Promise<Answer> {
  const [kind, path] = subject ? ['SubjectAccessReview', 'subjectaccessreviews'] : ['SelfSubjectAccessReview', 'selfsubjectaccessreviews'];
  const spec = { ...subject, resourceAttributes };
  const { status } = await post(`/apis/${VERSION}/${path}`, { apiVersion: VERSION, kind, spec });
  return { allowed: !!status.allowed, reason: status.reason ?? status.evaluationError ?? '' };
}

export function AccessPage() {
  const { groups, namespaces, user } = useShared();
  const [name, setName] = useState('');
  const [of, setOf] = useState('');
  const [namespace, setNamespace] = useState('');
  const [resource, setResource] = useState('pods');
  const [object, setObject] = useState('');
  const [answers, setAnswers] = useState<Record<string, Answer>>({});
  const [error, setError] = useState('');
  const kinds = groups.flatMap((group) => group.kinds);
  const kind = kindNamed(kinds, resource);
  const subject = name ? subjectOf(name, of) : undefined;
  const check = async () => {
    setError('');
    if (!kind) return setError(`The server does not serve ${resource}.`);
    try {
      const attributes = (verb: string) => ({ verb, group: kind.group, version: kind.version, resource: kind.resource, namespace: kind.namespaced ? namespace : '', name: object });
      const found = await Promise.all(VERBS.map(async (verb) => [verb, await review(subject, attributes(verb))] as const));
      setAnswers(Object.fromEntries(found));
    } catch (failure) {
      setAnswers({});
      setError(message(failure));
    }
  };
  useEffect(() => void check(), []);
  return (
    <>
      <div class="title"><h1>Access</h1></div>
      <section class="card" aria-label="Review">
        <h2>Who may do what</h2>
        <form class="toolbar" onSubmit={(event) => (event.preventDefault(), void check())}>
          <label>User<input placeholder={user?.username ?? 'you'} value={name} size={26} spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} /></label>
          <label>Groups<input placeholder="a,b" value={of} size={14} disabled={!name} spellcheck={false} onInput={(event) => setOf(event.currentTarget.value)} /></label>
          <label>Resource
            <input list="resources" value={resource} size={22} spellcheck={false} onInput={(event) => setResource(event.currentTarget.value)} />
            <datalist id="resources">{kinds.map((one) => <option key={`${one.group}/${one.resource}`} value={qualified(one)} />)}</datalist>
          </label>
          <label>Namespace
            <input list="namespaces" placeholder="all" value={namespace} size={14} disabled={kind && !kind.namespaced} onInput={(event) => setNamespace(event.currentTarget.value)} />
            <datalist id="namespaces">{namespaces.map((one) => <option key={one} value={one} />)}</datalist>
          </label>
          <label>Name<input placeholder="any" value={object} size={14} spellcheck={false} onInput={(event) => setObject(event.currentTarget.value)} /></label>
          <button class="primary">Review</button>
        </form>
        <p class="muted">A service account is the user <code>system:serviceaccount:NAMESPACE:NAME</code>; its groups are added.</p>
        {error && <Notice kind="error">{error}</Notice>}
        {Object.keys(answers).length > 0 && (
          <table class="plain" aria-label="Verbs">
            <thead><tr><th>Verb</th><th>Answer</th><th>Reason</th></tr></thead>
            <tbody>
              {VERBS.map((verb) => answers[verb] && (
                <tr key={verb}>
                  <td class="mono">{verb}</td>
                  <td>{answers[verb].allowed ? <span class="good">✓ yes</span> : <span class="bad">✗ no</span>}</td>
                  <td class="wrap muted">{answers[verb].reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      <OwnRules namespaces={namespaces} />
    </>
  );
}

/** The rules of this page's user in a namespace (SelfSubjectRulesReview). */
function OwnRules({ namespaces }: { namespaces: string[] }) {
  const [namespace, setNamespace] = useState('default');
  const [status, setStatus] = useState<Json>();
  const [error, setError] = useState('');
  useEffect(() => {
    const body = { apiVersion: VERSION, kind: 'SelfSubjectRulesReview', spec: { namespace } };
    post(`/apis/${VERSION}/selfsubjectrulesreviews`, body)
      .then((answer) => (setStatus(answer.status), setError('')))
      .catch((failure) => setError(message(failure)));
  }, [namespace]);
  return (
    <section class="card" aria-label="Your rules">
      <div class="title">
        <h2>Your rules</h2><span class="grow" />
        <label>Namespace
          <select value={namespace} onChange={(event) => setNamespace(event.currentTarget.value)}>
            {(namespaces.length ? namespaces : ['default']).map((one) => <option key={one}>{one}</option>)}
          </select>
        </label>
      </div>
      {error && <Notice kind="error">{error}</Notice>}
      {status?.incomplete && <Notice kind="info">The list is not complete: {status.evaluationError || 'an authorizer cannot list its rules.'}</Notice>}
      {status && (
        <table class="plain">
          <thead><tr><th>Verbs</th><th>Groups</th><th>Resources or paths</th><th>Names</th></tr></thead>
          <tbody>
            {status.resourceRules.map((rule: Json, index: number) => (
              <tr key={index}><td class="wrap">{all(rule.verbs)}</td><td class="wrap mono">{all(rule.apiGroups?.map((one: string) => one || 'core'))}</td><td class="wrap mono">{all(rule.resources)}</td><td class="wrap mono">{all(rule.resourceNames)}</td></tr>
            ))}
            {status.nonResourceRules.map((rule: Json, index: number) => (
              <tr key={`path${index}`}><td class="wrap">{all(rule.verbs)}</td><td /><td class="wrap mono">{all(rule.nonResourceURLs)}</td><td /></tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const all = (values: string[] | undefined) => (values ?? []).join(', ');

function qualified(kind: Kind): string {
  return kind.group ? `${kind.resource}.${kind.group}` : kind.resource;
}

/** A kind by its plural, with or without its group, its kind, or a short name. */
function kindNamed(kinds: Kind[], text: string): Kind | undefined {
  const name = text.trim().toLowerCase();
  return kinds.find((one) => qualified(one) === name) ?? kinds.find((one) => one.resource === name || one.kind.toLowerCase() === name || one.shortNames.includes(name));
}

function subjectOf(user: string, groups: string): Subject {
  const given = groups.split(',').map((one) => one.trim()).filter(Boolean);
  const account = user.match(/^system:serviceaccount:([^:]+):[^:]+$/);
  const added = account ? ['system:serviceaccounts', `system:serviceaccounts:${account[1]}`] : [];
  return { user, groups: [...given, ...added, 'system:authenticated'] };
}
