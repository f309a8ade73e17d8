// Tables: rows of cells under their columns, whichever tags or roles they are made of.
//
// Invariant: what is read as a table has nothing but its cells; anything else is read as text, so nothing is lost.
({ blocks, rows, text: { attribute }, walk }) => {
  const COLUMNS = 50;
  const BLOCKS = "table, h1, h2, article, section, nav, iframe"; // a table with one of them lays out the page
  const BLOCKS_WITHOUT_HEAD = `${BLOCKS}, h3, h4, blockquote, form, fieldset, pre`; // and so does one without headings
  const CELLS = "[role=cell], [role=gridcell], [role=columnheader], [role=rowheader]";

  const rowsOf = (table) => [...(table.rows ?? table.querySelectorAll("[role=row]"))];
  const cellsOf = (row) => [...(row.cells ?? row.querySelectorAll(CELLS))];
  const spanOf = (cell, side) => cell[`${side}Span`] ?? (Number(attribute(cell, `aria-${side.toLowerCase()}span`)) || 1);
  const isHeadingCell = (cell) => cell.localName === "th" || /^(column|row)header$/.test(attribute(cell, "role"));

  const isGrid = (table) => {
    const role = attribute(table, "role");
    if (table.localName !== "table" && !/^(table|grid|treegrid)$/.test(role)) return false;
    const blocksInCells = table.querySelector("th") ? BLOCKS : BLOCKS_WITHOUT_HEAD;
    if (/^(presentation|none)$/.test(role) || table.querySelector(blocksInCells)) return false;
    if (!rowsOf(table).some((row) => cellsOf(row).length > 1) || rows.holdsDropping(table)) return false;
    // What its author called a table may hold more than its cells, and nothing of that may be lost.
    const ink = (element) => element.textContent.replace(/\s+/g, "").length;
    return Boolean(table.rows) || ink(table) === rowsOf(table).flatMap(cellsOf).reduce((sum, cell) => sum + ink(cell), 0);
  };

  // One row as cells under their columns. A cell that spans rows is repeated in each, a heading that spans columns in each.
  const gridRow = (row, spans) => {
    const cells = [];
    const fill = () => {
      while (spans[cells.length]?.rows > 0) {
        const span = spans[cells.length];
        span.rows -= 1;
        cells.push(span.cell);
      }
    };
    const elements = cellsOf(row);
    const alone = elements.length === 1; // a title or a note across the table
    for (const element of elements) {
      if (getComputedStyle(element).display === "none") continue;
      fill();
      const isHeading = isHeadingCell(element);
      const cell = { isHeading, ...blocks.capture(() => walk.visit(element)) };
      for (let column = 0; column < Math.min(spanOf(element, "col"), COLUMNS); column += 1) {
        const rest = (spanOf(element, "row") || Infinity) - 1;
        const shown = column === 0 || (isHeading && !alone) ? cell : { isHeading, html: "", plain: "", mentions: [] };
        if (rest > 0) spans[cells.length] = { rows: rest, cell: { ...shown, mentions: [] } };
        cells.push(shown);
      }
    }
    fill();
    return cells;
  };

  const readRow = (row, spans = []) => {
    if (getComputedStyle(row).display === "none") return;
    const cells = gridRow(row, spans);
    if (!cells.some((cell) => cell.plain)) return;
    for (const cell of cells) {
      if (blocks.plain) blocks.append(" | ", " | ");
      blocks.release(cell);
    }
    blocks.forget();
    const tags = cells.map(({ isHeading, html }) => (isHeading ? `<th>${html}</th>` : `<td>${html}</td>`));
    blocks.write(`<tr>${tags.join("")}</tr>`);
  };

  const read = (table) => {
    const spans = [];
    if (table.caption) walk.visit(table.caption);
    blocks.flush();
    blocks.nesting += 1;
    blocks.write("<table>");
    for (const row of rowsOf(table)) if (!blocks.full) readRow(row, spans);
    blocks.nesting -= 1;
    blocks.write("</table>");
  };

  return { tables: { isGrid, read, readRow } };
}
