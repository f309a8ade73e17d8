// Numbers: the tables of links and controls, and what a number means on the live page.
//
// Invariant: a table is never longer than its limit; where something is left out of it, a note says so.
({ options }) => {
  const references = window[Symbol.for("speccache.references")];
  const kinds = {
    link: { rows: [], limit: options.maxLinks, first: options.firstLink },
    control: { rows: [], limit: options.maxControls, first: options.firstControl },
  };
  const notes = new Set();
  const numbers = {
    links: kinds.link.rows,
    controls: kinds.control.rows,
    notes,
    fleeting: false, // in a row whose elements may stand for another row by now
  };

  // Whether there is room for one more; where there is not, its text is still read.
  numbers.hasRoom = (kind) => {
    const { rows, limit } = kinds[kind];
    if (rows.length < limit) return true;
    notes.add(`Only the first ${limit} ${kind}s of the page are numbered.`);
    return false;
  };

  // Give an element a number and a row of its table.
  numbers.add = (kind, element, facts) => {
    const { rows, first } = kinds[kind];
    const standing = numbers.fleeting ? element.cloneNode(true) : element; // a clone is always "no longer on the page"
    const row = { number: references?.number(kind, standing, first) ?? first + rows.length + 1, ...facts };
    rows.push(row);
    return row;
  };

  return { numbers };
}
