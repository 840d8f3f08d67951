// Aligned columns of text for the terminal.

/**
 * Rows as aligned columns, the header underlined.
 * @param header one title per column
 * @param rows cells as text; a missing cell is empty
 * @param indent spaces before every line
 */
export function table(header: readonly string[], rows: readonly (readonly string[])[], indent = 2): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)))
  const line = (cells: readonly string[]) =>
    `${' '.repeat(indent)}${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join('  ')}`.trimEnd()
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
