// Addresses: a page is named by its path and, in hash-routed areas, by the route in its fragment ("#/chapter/…").

/** The page that an address names, or null where it lies outside this site's client. */
export function routeOf(url) {
  if (url.origin !== location.origin) return null;
  const match = /^\/(en|zh)(\/.*)?$/.exec(url.pathname);
  if (!match) return null;
  const route = url.hash.startsWith("#/") ? url.hash.slice(1).replace(/\/+$/, "") : "";
  return { lang: match[1], path: url.pathname.replace(/\/+$/, ""), route };
}

export function sameRoute(one, other) {
  return one !== null && other !== null && one.path === other.path && one.route === other.route;
}

/** Inside a hash-routed area only the fragment is written, as such applications do. */
export function hrefOf(path) {
  return path.startsWith(`${location.pathname}#`) ? path.slice(location.pathname.length) : path;
}
