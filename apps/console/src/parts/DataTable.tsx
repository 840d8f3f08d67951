// A table. Where the screen is narrow, its rows have two lines, or a line for each cell.
import { Skeleton } from '@mantine/core'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { LinkedRow } from './linkedRow.ts'

export type Column<Row> = {
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  /** A second line, in small letters. */
  readonly note?: (row: Row) => ReactNode
  /** Numbers are aligned at their end. */
  readonly isNumber?: boolean
  /** Words of ours, which stay on one line. Texts of others are broken anywhere. */
  readonly isShort?: boolean
  /**
   * The place on a narrow screen: what is before the title, the title and the figure are the first line, details the second, and
   * columns without a place are left out. Where no column has a place, each cell is a line with its header.
   */
  readonly narrow?: 'before' | 'title' | 'figure' | 'detail'
}

export type TableProps<Row> = {
  /** Says what the rows are, for screen readers. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  /** Where the whole row leads, if anywhere. The link is the column whose place is the title, or else the first one. */
  readonly rowLink?: ((row: Row) => LinkProps | undefined) | undefined
  /** Marks a row, for example one that asks for attention. */
  readonly isMarked?: ((row: Row) => boolean) | undefined
}

/** The roles are explicit, because a narrow screen lays the table out as blocks, which would end its semantics. */
export function DataTable<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, rowKey, rowLink, isMarked } = props
  const title = columns.find(({ narrow }) => narrow === 'title') ?? columns[0]
  return (
    <TableFrame caption={caption} columns={columns}>
      <LinkedRow value={rowLink !== undefined}>
        {rows.map((row) => (
          // biome-ignore lint/a11y/noRedundantRoles: see above.
          <tr key={rowKey(row)} role="row" data-marked={isMarked?.(row)} data-link={rowLink?.(row) !== undefined}>
            {columns.map((column) => (
              <Cell
                key={column.header}
                column={column}
                row={row}
                link={column === title ? rowLink?.(row) : undefined}
              />
            ))}
          </tr>
        ))}
      </LinkedRow>
    </TableFrame>
  )
}

type CellProps<Row> = { readonly column: Column<Row>; readonly row: Row; readonly link: LinkProps | undefined }

function Cell<Row>({ column, row, link }: CellProps<Row>) {
  const { header, cell, note, isNumber, isShort, narrow } = column
  const content = cell(row)
  const remark = note?.(row)
  return (
    // biome-ignore lint/a11y/noRedundantRoles: see above.
    <td role="cell" data-label={header} data-number={isNumber} data-short={isShort} data-narrow={narrow}>
      <div>
        {link === undefined ? (
          content
        ) : (
          <Link {...link} className="rowTitle">
            {content}
          </Link>
        )}
        {remark && <div className="cellNote">{remark}</div>}
      </div>
    </td>
  )
}

function TableFrame<Row>(props: {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly children: ReactNode
}) {
  const { caption, columns, children } = props
  const lines = columns.some(({ narrow }) => narrow !== undefined) ? 'two' : undefined
  return (
    <div className="tableScroll">
      {/* biome-ignore lint/a11y/noRedundantRoles: see above. */}
      <table className="table" role="table" data-lines={lines}>
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
        <tbody role="rowgroup">{children}</tbody>
      </table>
    </div>
  )
}

const skeletonRows = ['a', 'b', 'c', 'd', 'e', 'f']
const skeletonWidths = ['70%', '85%', '55%', '75%', '60%', '80%']

/** The table before its rows are there, at about their height. */
export function TableSkeleton<Row>({ caption, columns }: Pick<TableProps<Row>, 'caption' | 'columns'>) {
  return (
    <div role="status" aria-label={`Loading ${caption}`}>
      <div aria-hidden="true">
        <TableFrame caption={caption} columns={columns}>
          {skeletonRows.map((row, at) => (
            <tr key={row}>
              {columns.map(({ header, narrow }) => (
                <td key={header} data-narrow={narrow}>
                  <Skeleton height={12} my={5} width={skeletonWidths[at]} />
                </td>
              ))}
            </tr>
          ))}
        </TableFrame>
      </div>
    </div>
  )
}
