// All data of the site come from here.

export class NotFound extends Error {}

async function getJson(address, signal) {
  const response = await fetch(address, { signal, headers: { accept: "application/json" } });
  if (response.status === 404) throw new NotFound(address);
  if (!response.ok) throw new Error(`${response.status} from ${address}`);
  return response.json();
}

export function fetchFrame(lang, signal) {
  return getJson(`/api/frames/${lang}`, signal);
}

export function fetchPage({ path, route }, signal) {
  const query = route ? `?${new URLSearchParams({ route })}` : "";
  return getJson(`/api/pages${path}${query}`, signal);
}

export function fetchCollection(source, signal) {
  return getJson(source, signal);
}
