// Loads the program, says how far that is, and tells it what the page's address asks for.
'use strict';

const kKept = '/home/web_user/.config/trainscope';  // what stays in this browser: settings, answers
const element = (id) => document.getElementById(id);

// One sentence in place of the window.
function fail(sentence) {
  element('said').textContent = sentence;
  element('said').className = 'wrong';
  element('progress').hidden = true;
  element('cover').hidden = false;
}

// ---- What the program needs of the browser ----------------------------------------------------------------------

// Threads share memory only on pages with two headers; where the server does not send them, service.js adds them,
// once it is in charge of the page.
async function isolate() {
  if (crossOriginIsolated) return true;
  if (!isSecureContext || !navigator.serviceWorker || sessionStorage.isolating) return false;
  sessionStorage.isolating = 'asked';
  await navigator.serviceWorker.register('service.js');
  await navigator.serviceWorker.ready;
  location.reload();
  return new Promise(() => {});
}

async function missing() {
  if (!await isolate().catch(() => false))
    return 'This page may not share memory among threads, which Trainscope needs: open it over https (or from ' +
           'localhost), in a window that is not private, in a browser of 2023 or later.';
  if (!document.createElement('canvas').getContext('webgl2'))
    return 'This browser gives the page no WebGL 2: turn on graphics acceleration in its settings, or use another.';
  return '';
}

// ---- What is loaded ----------------------------------------------------------------------------------------------

let loaded = 0;

// The response, whose bytes are counted as they come.
async function counted(file) {
  const response = await fetch(file);
  if (!response.ok) throw new Error(`${file} cannot be loaded (${response.status})`);
  const reader = response.clone().body.getReader();
  (async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      loaded += part.value.length;
      element('progress').value = Math.min(1, loaded / Number(document.body.dataset.bytes));
      element('said').textContent = `Loading: ${(loaded / 1e6).toFixed(1)} MB`;
    }
    element('said').textContent = 'Starting';
  })();
  return response;
}

// ---- What the address asks for -----------------------------------------------------------------------------------

// A link as the window copies it, of ?lesson=ID&step=2, ?link=trainscope:1?…, or the same behind #; and what is said
// beside it: ?student=Ada&lang=de.
function asked() {
  const begins = 'trainscope:';
  const asks = {link: ''};
  for (const part of [location.search.slice(1), location.hash.slice(1)]) {
    if (part.startsWith(begins)) {
      asks.link = part;
      continue;
    }
    const words = new URLSearchParams(part);
    for (const name of ['link', 'student', 'lang', 'theme', 'present']) {
      if (words.has(name)) asks[name] = words.get(name);
      words.delete(name);
    }
    const knobs = [...words].filter(([name, value]) => value).map((pair) => pair.map(encodeURIComponent).join('='));
    if (knobs.length) asks.link = `${begins}1?${knobs.join('&')}`;
  }
  return asks;
}

// ---- The program -------------------------------------------------------------------------------------------------

function bringBack() {
  const {FS, IDBFS, addRunDependency, removeRunDependency} = Module;
  FS.mkdirTree(kKept);
  FS.mount(IDBFS, {autoPersist: true}, kKept);
  addRunDependency(kKept);
  FS.syncfs(true, (error) => {
    if (error) console.warn('What was kept in this browser cannot be read:', error);
    removeRunDependency(kKept);
  });
}

async function start() {
  const why = await missing();
  if (why) return fail(why);
  const wasm = counted('trainscope.wasm');
  const data = await (await counted('trainscope.data')).arrayBuffer();
  element('canvas').addEventListener('webglcontextlost', () => fail(
      'The browser has taken the graphics from this page: load it again; your answers are kept.'));
  globalThis.Module = {
    canvas: element('canvas'),
    asks: asked(),
    preRun: [bringBack],
    getPreloadedPackage: () => data,
    instantiateWasm(imports, done) {
      wasm.then((response) => WebAssembly.instantiateStreaming(response, imports))
          .then(({instance, module}) => done(instance, module), (error) => fail(`Trainscope does not start: ${error}`));
      return {};
    },
    ready() {
      element('cover').hidden = true;
      element('canvas').focus();
    },
    fail,
    onAbort: (what) => fail(`Trainscope has stopped: ${what}. Load the page again; your answers are kept.`),
  };
  const script = document.createElement('script');
  script.src = 'trainscope.js';
  document.body.append(script);
}

start().catch((error) => fail(`Trainscope does not start: ${error.message ?? error}`));
