// What the dialogs about endpoints and deliveries share.
import { useQueryClient } from '@tanstack/react-query'

/** @returns reads endpoints and deliveries again */
export function useWebhookRefresh(): () => void {
  const client = useQueryClient()
  return () => {
    for (const queryKey of [['webhook-endpoints'], ['deliveries'], ['delivery']])
      void client.invalidateQueries({ queryKey })
  }
}

/** For example "1 delivery". */
export const deliveriesText = (count: number): string =>
  count === 1 ? '1 delivery' : `${count.toLocaleString()} deliveries`
