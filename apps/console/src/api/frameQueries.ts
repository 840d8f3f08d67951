// What the frame shows on every page: how much needs attention, and whether real money moves.
import { queryOptions } from '@tanstack/react-query'
import { getIfThere } from './api.ts'
import { pollMs } from './queryClient.ts'

/** Something that a human has to look at. `link`: the filtered page of the console */
export type AttentionItem = {
  readonly code: string
  readonly message: string
  readonly occurred_at: string
  readonly link: string
  readonly count: number
}

const frameMs = 3 * pollMs

/** Everything that needs attention; null where the API has no such list. */
export const attentionQuery = queryOptions({
  queryKey: ['attention'],
  queryFn: ({ signal }) => getIfThere<readonly AttentionItem[]>('/admin/attention', signal),
  refetchInterval: frameMs,
})

export type Provider = { readonly id: string; readonly mode: 'live' | 'test' | null }

/** The enabled providers; null where the API has no such list. */
export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: ({ signal }) => getIfThere<readonly Provider[]>('/admin/providers', signal),
  staleTime: frameMs,
})
