// The client: shows the page its address names, and follows links without leaving the document.

import { fetchCollection, fetchFrame, fetchPage, NotFound } from "./data.js";
import * as render from "./render.js";
import { routeOf, sameRoute } from "./route.js";

const content = document.getElementById("content");
let shown = null;
let frame = null;
let loading = new AbortController();

async function showFrame(lang, signal) {
  if (frame?.lang === lang) return;
  frame = await fetchFrame(lang, signal);
  document.documentElement.lang = lang;
  document.getElementById("header").replaceChildren(...render.header(frame));
  document.getElementById("footer").replaceChildren(...render.footer(frame));
}

async function fillCollection(placeholder, signal) {
  const payload = await fetchCollection(placeholder.dataset.source, signal);
  placeholder.replaceWith(render.block(payload));
}

async function showPage(route, signal) {
  const arriving = [showFrame(route.lang, signal), fetchPage(route, signal)];
  // The frame stays in place even where there is no page.
  await Promise.allSettled(arriving);
  const [, page] = await Promise.all(arriving);
  document.title = page.breadcrumbs.length ? `${page.title} – ${frame.name}` : frame.name;
  content.replaceChildren(...render.page(page));
  const placeholders = [...content.querySelectorAll("[data-source]")];
  await Promise.all(placeholders.map((placeholder) => fillCollection(placeholder, signal)));
}

function explain(error) {
  const text = error instanceof NotFound ? frame?.not_found : frame?.failed;
  content.replaceChildren(render.message(text ?? String(error)));
}

async function show() {
  const route = routeOf(new URL(location.href));
  // A click on a hash link is told twice, by popstate and by hashchange.
  if (route === null || sameRoute(route, shown)) return;
  shown = route;
  loading.abort();
  loading = new AbortController();
  const { signal } = loading;
  content.setAttribute("aria-busy", "true");
  try {
    await showPage(route, signal);
  } catch (error) {
    if (signal.aborted) return;
    shown = null;
    explain(error);
  }
  if (!signal.aborted) content.setAttribute("aria-busy", "false");
}

function follow(event) {
  const link = event.target.closest("a[href]");
  const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || event.defaultPrevented || link.hasAttribute("download") || link.target) return;
  const url = new URL(link.href);
  if (routeOf(url) === null || (url.pathname === location.pathname && url.hash)) return;
  event.preventDefault();
  history.pushState(null, "", url);
  scrollTo(0, 0);
  show();
}

document.addEventListener("click", follow);
addEventListener("popstate", show);
addEventListener("hashchange", show);
show();
