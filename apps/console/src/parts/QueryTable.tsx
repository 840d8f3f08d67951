// The rows of a query, or its loading, empty or error state.
import { Button } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { DataTable, type TableProps, TableSkeleton } from './DataTable.tsx'
import { EmptyState, ErrorState } from './states.tsx'

/** Why a list with filters has no rows. */
export type NoMatch = {
  /** What the filters match, for example that an e-mail address is matched as a whole. */
  readonly hint?: ReactNode
  readonly clear: () => void
}

/**
 * @param props `what` names the rows, such as "payments". `empty`: what a list without filters says when it has no rows, with the
 *   first step as its hint. `noMatch`: given while filters are set
 */
export function QueryTable<Body, Row>(
  props: Omit<TableProps<Row>, 'caption' | 'rows'> & {
    readonly what: string
    readonly query: Pick<UseQueryResult<Body>, 'data' | 'error' | 'isError' | 'refetch'>
    readonly rowsOf: (body: Body) => readonly Row[]
    readonly empty: { readonly title: string; readonly hint?: ReactNode }
    readonly noMatch?: NoMatch | undefined
  },
) {
  const { what, query, rowsOf, empty, noMatch, ...table } = props
  const failure = query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />
  if (query.data === undefined) return failure || <TableSkeleton caption={what} columns={table.columns} />
  const rows = rowsOf(query.data)
  return (
    <>
      {/* What was loaded before stays readable when an update fails. */}
      {failure}
      {rows.length > 0 && <DataTable caption={what} rows={rows} {...table} />}
      {rows.length === 0 && noMatch === undefined && (
        <EmptyState title={empty.title}>{empty.hint && <div>{empty.hint}</div>}</EmptyState>
      )}
      {rows.length === 0 && noMatch && (
        <EmptyState title={`No ${what} match these filters`}>
          {noMatch.hint && <div>{noMatch.hint}</div>}
          <Button size="xs" variant="default" onClick={noMatch.clear}>
            Clear the filters
          </Button>
        </EmptyState>
      )}
    </>
  )
}
