// A table that becomes a list of cards where the screen is narrow.
import type { ReactNode } from 'react'

export type Column<Row> = {
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  /** Numbers are aligned at their end. */
  readonly isNumber?: boolean
  /** Words of ours, which stay on one line. Texts of others are broken anywhere. */
  readonly isShort?: boolean
}

type TableProps<Row> = {
  /** Says what the rows are, for screen readers. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  /** Marks a row, for example one that asks for attention. */
  readonly isMarked?: (row: Row) => boolean
}

/** The roles are explicit, because a narrow screen lays the table out as blocks, which would end its semantics. */
export function DataTable<Row>({ caption, columns, rows, rowKey, isMarked }: TableProps<Row>) {
  return (
    <div className="tableScroll">
      {/* biome-ignore lint/a11y/noRedundantRoles: see above. */}
      <table className="table" role="table">
        <caption className="srOnly">{caption}</caption>
        {/* biome-ignore lint/a11y/noRedundantRoles: see above. */}
        <thead role="rowgroup">
          {/* biome-ignore lint/a11y/noRedundantRoles: see above. */}
          <tr role="row">
            {columns.map(({ header, isNumber }) => (
              // biome-ignore lint/a11y/noRedundantRoles: see above.
              <th key={header} scope="col" role="columnheader" data-number={isNumber}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        {/* biome-ignore lint/a11y/noRedundantRoles: see above. */}
        <tbody role="rowgroup">
          {rows.map((row) => (
            // biome-ignore lint/a11y/noRedundantRoles: see above.
            <tr key={rowKey(row)} role="row" data-marked={isMarked?.(row)}>
              {columns.map(({ header, cell, isNumber, isShort }) => (
                // biome-ignore lint/a11y/noRedundantRoles: see above.
                <td key={header} role="cell" data-label={header} data-number={isNumber} data-short={isShort}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
