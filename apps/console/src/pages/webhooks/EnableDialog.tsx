// Enables an endpoint that responded 410 Gone.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../api/api.ts'
import type { EndpointReport } from '../../api/apiTypes.ts'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { Notice } from '../../parts/Notice.tsx'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { ErrorState } from '../../parts/states.tsx'
import { Time } from '../../parts/Time.tsx'
import { deliveriesText, webhookKeys } from './webhookKeys.ts'

export function EnableDialog({ endpoint, close }: { readonly endpoint: EndpointReport; readonly close: () => void }) {
  const client = useQueryClient()
  const { reason, reasonField } = useReason()
  const enable = useMutation({
    mutationFn: () =>
      dataOf(api.enableWebhookEndpoint({ path: { endpoint: endpoint.endpoint }, header: reasonHeader(reason) })),
    onSettled: () => Promise.all(webhookKeys.map((queryKey) => client.invalidateQueries({ queryKey }))),
  })
  return (
    <ConfirmDialog
      opened
      title={`Enable endpoint ${endpoint.endpoint}`}
      confirm="Enable"
      isRunning={enable.isPending}
      isOver={enable.isSuccess}
      close={close}
      submit={() => enable.mutate()}
    >
      {enable.data ? (
        <Notice role="status" tone="good" title="Enabled">
          {deliveriesText(enable.data.held)} waited, and {enable.data.held === 1 ? 'is' : 'are'} sent now.
        </Notice>
      ) : (
        <>
          <p>
            {endpoint.url ?? 'The endpoint'} responded 410 Gone and is paused since{' '}
            <Time value={endpoint.disabled_at} />. {deliveriesText(endpoint.pending)} waited since then and will be sent
            within seconds.
          </p>
          {reasonField}
        </>
      )}
      {enable.isError && <ErrorState error={enable.error} />}
    </ConfirmDialog>
  )
}
