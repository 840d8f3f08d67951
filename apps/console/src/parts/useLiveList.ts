// A list that stays as it is while one reads it, and says how many new rows there are.
import { type QueryKey, useQuery, useQueryClient } from '@tanstack/react-query'
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
  const shown = useQuery({ queryKey, queryFn, staleTime: Number.POSITIVE_INFINITY })
  const latest = useQuery({
    queryKey: [...queryKey, 'latest'],
    queryFn,
    enabled: isLive && shown.isSuccess,
    // The hidden tab does not poll; React Query stops there by itself.
    refetchInterval: pollMs,
    retry: false,
  })
  const merged =
    shown.data && latest.data && isLive ? mergeLatest(shown.data.data, latest.data.data, rowKey) : undefined
  const data = shown.data && merged ? { ...shown.data, data: merged.rows } : shown.data
  return {
    query: { ...shown, data } as typeof shown,
    newCount: merged?.newCount ?? 0,
    showNew: () => client.setQueryData(queryKey, latest.data),
  }
}
