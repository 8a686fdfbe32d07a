// Adds the two headers that let a page share memory among its threads, for servers that cannot be told to.

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));

async function isolated(request) {
  const response = await fetch(request);
  if (response.type === 'opaque' || response.type === 'error') return response;
  const headers = new Headers(response.headers);
  headers.set('Cross-Origin-Opener-Policy', 'same-origin');
  headers.set('Cross-Origin-Embedder-Policy', 'require-corp');
  headers.set('Cross-Origin-Resource-Policy', 'same-origin');
  const {status, statusText} = response;
  return new Response(response.body, {status, statusText, headers});
}

addEventListener('fetch', (event) => {
  const {request} = event;
  if (request.cache === 'only-if-cached' && request.mode !== 'same-origin') return;
  event.respondWith(isolated(request));
});
