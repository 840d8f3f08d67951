// What the frame shows on every page: how much needs attention, and whether real money moves.
import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from './api.ts'
import { pollMs } from './queryClient.ts'

const frameMs = 3 * pollMs

/** Everything that a human has to look at. Needs `listAttention`. */
export const attentionQuery = queryOptions({
  queryKey: ['attention'],
  queryFn: ({ signal }) => dataOf(api.listAttention({ signal })),
  refetchInterval: frameMs,
})

/** The payment providers, also those that are not enabled. Needs `listProviders`. */
export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: ({ signal }) => dataOf(api.listProviders({ signal })),
  refetchInterval: frameMs,
})
