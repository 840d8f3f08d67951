// What the dialogs about endpoints and deliveries share.
import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/api.ts'
import { pollMs } from '../../api/queryClient.ts'

/** All endpoints, with their figures. */
export const endpointsQuery = queryOptions({
  queryKey: ['webhook-endpoints'],
  queryFn: ({ signal }) => bodyOf(api.listWebhookEndpoints({ signal })),
  refetchInterval: pollMs,
})

/** @returns reads endpoints and deliveries again */
export function useWebhookRefresh(): () => void {
  const client = useQueryClient()
  return () => {
    for (const queryKey of [['webhook-endpoints'], ['deliveries'], ['delivery'], ['payment']])
      void client.invalidateQueries({ queryKey })
  }
}
