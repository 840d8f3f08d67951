// A list that stays as it is while one reads it, and says how many new rows there are.
import { type QueryKey, skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { pollMs } from '../api/queryClient.ts'
import { mergeLatest } from './mergeLatest.ts'

/**
 * Polls the first page. Rows that are shown are updated where they are; new ones wait until `showNew` is called.
 * @param options `isLive`: false for later pages, which are not polled
 */
export function useLiveList<Row, Body extends { readonly data: readonly Row[] }>(options: {
  readonly queryKey: QueryKey
  readonly queryFn: (context: { signal: AbortSignal }) => Promise<Body>
  readonly rowKey: (row: Row) => string
  readonly isLive: boolean
}) {
  const { queryKey, queryFn, rowKey, isLive } = options
  const client = useQueryClient()
  // React Query does not poll in a hidden tab.
  const latest = useQuery({ queryKey, queryFn, refetchInterval: isLive && pollMs })
  const shownKey = [...queryKey, 'shown']
  // In the cache, so that coming back from a row finds the list as it was left.
  const shown = useQuery<Body>({ queryKey: shownKey, queryFn: skipToken })
  const showNew = () => client.setQueryData(shownKey, latest.data)
  useEffect(() => {
    if (shown.data === undefined && latest.data !== undefined) client.setQueryData([...queryKey, 'shown'], latest.data)
  }, [client, queryKey, shown.data, latest.data])
  const { rows = [], newCount = 0 } =
    shown.data && latest.data ? mergeLatest(shown.data.data, latest.data.data, rowKey) : {}
  const data = shown.data ? { ...shown.data, data: rows } : latest.data
  return { query: { ...latest, data }, newCount, showNew }
}
