// Brings the shown rows of a list up to date without moving them.

/**
 * @param shown the rows that somebody reads
 * @param latest the first page as it is now
 * @returns the shown rows in their order, each as it is now where that is known, and how many others are before the last of them
 */
export function mergeLatest<Row>(
  shown: readonly Row[],
  latest: readonly Row[],
  rowKey: (row: Row) => string,
): { readonly rows: Row[]; readonly newCount: number } {
  const current = new Map(latest.map((row) => [rowKey(row), row]))
  const known = new Set(shown.map(rowKey))
  return {
    rows: shown.map((row) => current.get(rowKey(row)) ?? row),
    newCount: latest.filter((row) => !known.has(rowKey(row))).length,
  }
}
