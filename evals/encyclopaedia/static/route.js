// Addresses: an article is named by its path, what was found by the whole query. Served in place of the demo site's.

export function routeOf(url) {
  if (url.origin !== location.origin) return null;
  if (url.pathname === "/search") return { lang: "en", path: url.pathname + url.search, route: "" };
  return url.pathname.startsWith("/wiki/") ? { lang: "en", path: url.pathname, route: "" } : null;
}

export function sameRoute(one, other) {
  return one !== null && other !== null && one.path === other.path;
}

export const hrefOf = (path) => path;
