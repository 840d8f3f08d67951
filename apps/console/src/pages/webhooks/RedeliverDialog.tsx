// Sends one delivery again.
import { useQueryClient } from '@tanstack/react-query'
import { ActionDialog } from '../../actions/ActionDialog.tsx'
import { useAction } from '../../actions/useAction.ts'
import { dataOf, exactApi } from '../../api/api.ts'
import type { DeliveryDetails } from '../../api/apiTypes.ts'
import { deliveryQuery } from '../../api/paymentQueries.ts'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { useEndpointName } from './endpointName.ts'
import { useWebhookRefresh } from './webhookQueries.ts'

export function RedeliverDialog({
  delivery,
  close,
}: {
  readonly delivery: Pick<DeliveryDetails, 'id' | 'event' | 'endpoint' | 'url' | 'status'>
  readonly close: () => void
}) {
  const client = useQueryClient()
  const { reason, reasonField } = useReason()
  const nameOf = useEndpointName()
  const { id, event, endpoint, url, status } = delivery
  const redeliver = useAction({
    name: `redeliver ${id}`,
    effect: 'each time',
    async send(text: string) {
      const sent = await dataOf(exactApi.redeliverWebhook({ path: { id }, header: reasonHeader(text) }))
      client.setQueryData(deliveryQuery(id).queryKey, sent)
      return true
    },
    onResponse: useWebhookRefresh(),
  })
  const isDone = redeliver.result !== undefined
  return (
    <ActionDialog
      title="Redeliver"
      action={redeliver}
      confirm="Redeliver"
      fields={reasonField}
      success={url === null ? 'It waits until the endpoint is configured.' : 'It is sent within seconds.'}
      close={close}
      submit={() => redeliver.submit(reason)}
    >
      {!isDone && (
        <p>
          {event} is sent to {nameOf(endpoint)} again within seconds, with the same id and body, and a new retry
          schedule.
          {status === 'succeeded' && ' The endpoint has accepted it before.'}
          {url === null && ' While the endpoint is not configured, it waits.'}
        </p>
      )}
    </ActionDialog>
  )
}
