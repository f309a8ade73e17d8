// Draws what the server says. Every function returns nodes; nothing here fetches or knows where it is put.

import { hrefOf } from "./route.js";

function element(tag, { className, ...attributes } = {}, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function anchor({ text, path, rel, language, download, hidden }) {
  const node = element("a", { href: hrefOf(path) }, text);
  if (rel) node.rel = rel;
  if (language) node.hreflang = language;
  if (download) node.download = "";
  if (hidden) {
    node.className = "members-only";
    node.tabIndex = -1;
  }
  return node;
}

const inline = (part) => (typeof part === "string" ? part : anchor(part));

const linkList = (links, className = "links") =>
  element("ul", { className }, ...links.map((link) => element("li", {}, anchor(link))));

function listingEntry({ title, summary, more }) {
  const node = element("li", {}, element("h3", {}, inline(title)));
  if (summary) node.append(element("p", {}, summary));
  if (more) node.append(element("p", {}, anchor(more)));
  return node;
}

const blocks = {
  heading: ({ text }) => element("h2", {}, text),
  paragraph: ({ parts }) => element("p", {}, ...parts.map(inline)),
  definitions: ({ entries }) =>
    element(
      "dl",
      {},
      ...entries.flatMap(({ term, value }) => [element("dt", {}, term), element("dd", {}, inline(value))]),
    ),
  listing: ({ entries }) => element("ul", { className: "listing" }, ...entries.map(listingEntry)),
  table: ({ columns, rows }) =>
    element(
      "table",
      {},
      element("thead", {}, element("tr", {}, ...columns.map((name) => element("th", { scope: "col" }, name)))),
      element(
        "tbody",
        {},
        ...rows.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, inline(cell))))),
      ),
    ),
  collection: ({ source }) => element("p", { className: "loading", role: "status", "data-source": source }, "…"),
};

export const block = (payload) => blocks[payload.kind](payload);

export const message = (text) => element("p", { role: "alert" }, text);

export function header({ name, navigation, account }) {
  return [
    linkList(account, "links account"),
    element("p", { className: "name" }, name),
    element("nav", { "aria-label": name }, linkList(navigation)),
  ];
}

export const footer = ({ footer: links }) => [linkList(links)];

export function page({ title, breadcrumbs, blocks: payloads }) {
  const trail = breadcrumbs.length ? [linkList(breadcrumbs, "links breadcrumbs")] : [];
  return [...trail, element("h1", {}, title), ...payloads.map(block)];
}
