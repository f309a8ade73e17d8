// Address: whether the page is on its way to another document, or to the text of another address.
//
// Invariant: the old text is never taken for that of the new address.
({ activity }) => {
  const { begin, end, native: call, timeout, wrap } = activity;
  const SOON = 1; // a refresh within so many seconds is waited for
  const address = {
    owesText: false, // it was changed by script, the document not yet
    refresh: "", // the `Refresh` header, which no script can see
  };

  for (const name of ["pushState", "replaceState"]) {
    wrap(window.History?.prototype, name, (native, self, args) => {
      const before = location.href;
      const result = call(native, self, args);
      if (location.href !== before) address.owesText = activity.scripted = true;
      return result;
    });
  }

  let leaving = null; // a navigation to another document was asked for and has not happened yet
  const stay = () => {
    end(leaving);
    leaving = null;
  };
  window.navigation?.addEventListener("navigate", (event) => {
    if (event.destination.sameDocument || event.downloadRequest !== null) return;
    leaving ??= begin("navigation");
    // A router may intercept it and stay in this document; it has done so when all listeners have run.
    timeout(() => event.defaultPrevented && stay(), 0);
  });
  window.navigation?.addEventListener("navigatesuccess", stay);
  window.navigation?.addEventListener("navigateerror", stay);

  // What the page wants to be loaded anew with, header or tag; empty where it does not.
  const refresh = () => address.refresh || (document.querySelector('meta[http-equiv="refresh" i]')?.content ?? "");

  address.refreshes = () => refresh() !== "";

  // No event says that what came is a file, or nothing at all.
  let stays = false;
  address.stay = () => {
    stays = true;
    stay();
  };

  address.refreshComes = () => {
    const [, delay, url] = /^\s*([\d.]*)\s*[;,]?\s*(?:url\s*=\s*)?["']?([^"']*)/i.exec(refresh()) ?? [];
    return !stays && Boolean(url) && Number(delay) <= SOON && new URL(url, document.baseURI).href !== location.href;
  };

  return { address };
}
