/**
 * Everything measured, as a flat list: which table, which row, which column.
 *
 * @typedef {import('./statistics.mjs').Summary} Summary
 *
 * @typedef {object} Table
 * @property {string} id
 * @property {string} title
 * @property {string} base the row that the others are compared with
 * @property {string} unit
 *
 * @typedef {{ table: string, row: string, column: string, summary: Summary }} Measure
 */
export class Results {
  /** @type {Table[]} */
  tables = [];
  /** @type {Measure[]} */
  measures = [];
  /** Contenders that were left out, with the reason. @type {{ name: string, reason: string }[]} */
  absent = [];
  /** @type {{ name: string, note: string }[]} */
  notes = [];

  /** @param {Table} table */
  addTable(table) {
    this.tables.push(table);
  }

  /** @param {string} table @param {string} row @param {string} column @param {Summary} summary */
  add(table, row, column, summary) {
    this.measures.push({ table, row, column, summary });
  }

  /**
   * Adds what `interleave` measured.
   * @param {string} table
   * @param {Awaited<ReturnType<typeof import('./interleave.mjs').interleave>>} measured
   */
  addAll(table, measured) {
    for (const [row, columns] of measured) {
      if ('failed' in columns) this.addAbsent(`${row} (${table})`, String(columns.failed));
      else for (const [column, summary] of Object.entries(columns)) this.add(table, row, column, summary);
    }
  }

  /** @param {string} name @param {string} reason */
  addAbsent(name, reason) {
    this.absent.push({ name, reason });
  }

  /** @param {string} table @param {string} row @param {string} column @returns {number | undefined} */
  median(table, row, column) {
    return this.measures.find((one) => one.table === table && one.row === row && one.column === column)?.summary.median;
  }

  /** @param {string} table */
  of(table) {
    return this.measures.filter((one) => one.table === table);
  }
}
