// The rows of a query, or its loading, empty or error state.
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type Column, DataTable } from './DataTable.tsx'
import { EmptyState, ErrorState, LoadingState } from './states.tsx'

/** @param props `what` names the rows, such as "payments"; `empty` explains why there may be none */
export function QueryTable<Body, Row>(props: {
  readonly what: string
  readonly query: Pick<UseQueryResult<Body>, 'data' | 'error' | 'isError' | 'refetch'>
  readonly rowsOf: (body: Body) => readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly rowKey: (row: Row) => string
  readonly isMarked?: (row: Row) => boolean
  readonly empty: { readonly title: string; readonly hint?: ReactNode }
}) {
  const { what, query, rowsOf, columns, rowKey, isMarked, empty } = props
  const failure = query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />
  if (query.data === undefined) return failure || <LoadingState what={what} />
  const rows = rowsOf(query.data)
  return (
    <>
      {/* What was loaded before stays readable when an update fails. */}
      {failure}
      {rows.length === 0 ? (
        <EmptyState title={empty.title}>{empty.hint}</EmptyState>
      ) : (
        <DataTable caption={what} columns={columns} rows={rows} rowKey={rowKey} {...(isMarked && { isMarked })} />
      )}
    </>
  )
}
