// Shows the OpenAPI documents of the server in swagger-ui, with the session of the console.

const KEY = 'console.key';
const BASE = '/ui/server';
const V2 = '/openapi/v2';
const select = document.getElementById('document');
const state = document.getElementById('state');

/** Requests go to the path at which the server reads the session, with this browser's half of it. */
function withSession(request) {
  const url = new URL(request.url, location.href);
  if (url.origin !== location.origin) throw new Error('The console sends no request to another server.');
  if (!url.pathname.startsWith(BASE)) url.pathname = BASE + url.pathname;
  request.url = url.toString();
  request.headers = { ...request.headers, 'X-Console-Key': localStorage.getItem(KEY) ?? '' };
  return request;
}

async function fetchIndex() {
  const request = withSession({ url: '/openapi/v3', headers: { Accept: 'application/json' } });
  const response = await fetch(request.url, { headers: request.headers });
  if (response.status === 401) {
    location.href = '/ui/';
    throw new Error('Not signed in.');
  }
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return (await response.json()).paths;
}

function show(url) {
  SwaggerUIBundle({
    url,
    domNode: document.getElementById('document-view'),
    requestInterceptor: withSession,
    presets: [SwaggerUIBundle.presets.apis],
    layout: 'BaseLayout',
    // The document of all groups has thousands of operations.
    docExpansion: url === V2 ? 'none' : 'list',
    filter: true,
    deepLinking: false,
    // No badge of an external validator, and no source outside of this server.
    validatorUrl: null,
    queryConfigEnabled: false,
    syntaxHighlight: { activated: false },
  });
}

function option(text, value) {
  select.add(new Option(text, value));
}

async function start() {
  const paths = await fetchIndex();
  option('v2: all groups', V2);
  for (const path of Object.keys(paths).sort()) option(`v3: ${path}`, `/openapi/v3/${path}`);
  const wanted = decodeURIComponent(location.hash.slice(1));
  const chosen = [...select.options].find((one) => one.text === wanted) ?? [...select.options].find((one) => one.text === 'v3: apis/apps/v1') ?? select.options[0];
  select.value = chosen.value;
  select.addEventListener('change', () => {
    history.replaceState(null, '', `#${encodeURIComponent(select.selectedOptions[0].text)}`);
    show(select.value);
  });
  show(select.value);
}

const theme = localStorage.getItem('console.theme');
if (theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)) document.documentElement.classList.add('dark-mode');

start().catch((error) => {
  state.textContent = error.message;
});
